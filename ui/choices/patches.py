"""The choice of a token on a picture: what a click on one of several maps of it changes."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ui.choices.token import keep
from ui.look import Look
from ui.picture.board import Board
from ui.picture.mount import mount
from ui.show import choice

Picker = Callable[[Look, object], dict[str, int | None] | None]


def picker(parts: Collection[str]) -> Picker:
    """Return the function that gives the token which a click chooses, in one of these parts of a board; a second click on it
    deselects it. It gives None for a click on something else."""

    def picked(look: Look, click: object) -> dict[str, int | None] | None:
        match click:
            case {"part": str(part), "value": int(position)} if part in parts:
                is_there = 0 <= position < len(look.trace.tokens)
                return {"token": None if position in (look.chosen_token, look.newest) else position} if is_there else {}
        return None

    return picked


def place(board: Board, key: str, look: Look, picked: Picker) -> None:
    """Mount a board of maps, whose clicks choose a token."""

    def react() -> None:
        match picked(look, choice(key)):
            case {"token": token}:
                keep(token)

    mount(board, key, react)
