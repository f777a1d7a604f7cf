"""Clicks on the board of page "Type" that choose a token or a head: they only change the picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ui.look import Look

if TYPE_CHECKING:
    from models.tokens import Token

PARTS = ("chips", "target", "reading", "heads", "picture")  # of the board, in which there is something to choose

Choice = dict[str, int | None]
"""Choices of the visitor that change, by their names in `ui.look.Choices`."""


def picked(look: Look, click: object) -> Choice | None:
    """Return the choices that a click makes, perhaps none; None for a click that does something else."""
    match click:
        case {"part": "chips"} if look.model.info.mask and look.trace.unembed:
            return None
        case {"part": "chips" | "target" as name, "value": int(position)}:
            return token_of_chip(look, look.trace.tokens if name == "chips" else look.trace.target, position)
        case {"part": "picture", "value": int(position)}:
            return token(look, position) if 0 <= position < len(look.trace.tokens) else {}
        case {"part": "reading", "value": int(position)}:
            groups = look.scope.queries.groups
            position -= len(look.scope.keys.tokens) if look.kind == "cross" else 0
            return token(look, groups[position][0]) if 0 <= position < len(groups) else {}
        case {"part": "heads", "value": [int(layer), int(head)]}:
            attention = look.attention
            is_there = 0 <= layer < attention.layers and 0 <= head < attention.counts[layer]
            return {"layer": layer, "head": head} if is_there else {}
    return None


def token_of_chip(look: Look, tokens: Sequence[Token], position: int) -> Choice:
    """Return the row to select for a click on a token: the row that chose that word."""
    trace, places = look.trace, look.select(tokens).places
    read = trace.target if look.kind in ("cross", "decoder") and trace.target else trace.tokens
    row = places[position] - look.attention.chooses if 0 <= position < len(places) else -1
    return token(look, row) if tokens == read and row >= 0 else {}


def token(look: Look, position: int) -> Choice:
    """Return the row to select for a click on a token's row; a second click deselects it, so that the newest is shown."""
    return {"token": None if position in (look.chosen_token, look.newest) else position}
