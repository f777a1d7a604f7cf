"""Clicks on the picture of page "Overview" that choose a token or a head: they change the picture, and nothing else."""

from __future__ import annotations

from ui.look import Look

PARTS = ("token", "layer")  # of a click, by which such clicks are known

Choice = dict[str, int | None]
"""Choices of the visitor that change, by their names in `ui.look.Choices`."""


def picked(look: Look, click: object) -> Choice | None:
    """Return what a click chooses, nothing for one that chooses nothing; None for a click that does something else."""
    match click:
        case {"token": _} if look.model.info.mask and look.trace.unembed:
            return None
        case {"token": [int(lane), int(position)]}:
            last = 1 if look.trace.target and look.kind != "encoder" else 0
            return token(look, position) if lane == last else {}
        case {"layer": int(layer), "head": int(head)}:
            attention = look.attention
            if look.beginner or not 0 <= layer < attention.layers or head < 0:
                return {}
            return {"layer": layer, "head": min(head, attention.counts[layer] - 1)}
    return None


def token(look: Look, position: int) -> Choice:
    """Return what a click on a token chooses: None, so that the newest is shown, for the chosen token and for the newest."""
    if not 0 <= position < len(look.trace.read):
        return {}
    return {"token": None if position in (look.chosen_token, look.newest) else position}
