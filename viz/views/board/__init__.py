"""Several views as one: cards with a heading, words and pictures, sent and drawn together.

A page of many small elements costs a browser more than drawing them: each is a message, and a part of the page that React checks.
One board is one message.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viz.view import View, pack


@dataclass(frozen=True)
class Part:
    """A view with words above and below it; `name` identifies the choices made in it.

    Words are plain text, in which `**bold**`, `*italic*`, code between backticks and `[word](#w-name)` are the only marks (`\\*`
    is a star, `\\[` a bracket); a blank line starts a paragraph, and lines that all begin with a hyphen are a list. The page
    around a board explains a word with a name.
    """

    name: str
    view: View | None
    above: str = ""
    below: str = ""
    late: bool = False  # drawn after the others are on screen, when there is something there already
    more: tuple[str, str] = ("", "")  # a name, and the words below that unfold when it is pressed
    folds: str = ""  # what a reader presses to see the view and the words below it; "" where they stand open


@dataclass(frozen=True)
class Card:
    """Parts one below the other under a heading. width: its share of a row; 0 for a row of its own, unframed."""

    parts: Sequence[Part]
    title: str = ""
    width: int = 0


def board(cards: Sequence[Card], label: str = "", later: Sequence[str] = (), answers: str = "") -> View:
    """Draw the cards in rows: neighbours with a width share a row, or are stacked where there is no room.

    answers: the part that responds to a click in another one; if it is out of sight, it scrolls into sight. later: further kinds
    of view that a part may contain when the board is drawn again; without them it would be a new board.

    A choice in a part sends `chosen`: `{"part": its name, "value": the view's value, "n"}`, where `n` grows.
    """
    header, blocks, offset = [], [], 0
    for card in cards:
        parts = []
        for part in card.parts:
            data = part.view.data if part.view else b""
            room = -len(data) % 8  # each block on a multiple of 8, as `unpack` likes it
            parts.append(
                {
                    "name": part.name,
                    "kind": part.view.kind if part.view else "",
                    "above": part.above,
                    "below": part.below,
                    "start": offset,
                    "end": offset + len(data),
                    "late": part.late,
                }
                | ({"more": part.more} if part.more[1] else {})
                | ({"folds": part.folds} if part.folds else {})
            )
            blocks.append(data + bytes(room))
            offset += len(data) + room
        header.append({"title": card.title, "width": card.width, "parts": parts})
    data = pack({"cards": header, "label": label, "answers": answers}, blocks=np.frombuffer(b"".join(blocks), dtype=np.uint8))
    kinds = sorted({*later, *(part.view.kind for card in cards for part in card.parts if part.view)})
    return View("board", data, label, uses=tuple(kinds))
