"""A push along a direction, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Push:
    """A push along a direction. name: of the direction; pairs: the texts from which it is calculated; layer: as for a stream;
    method, seed: how the text is continued."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    layer: int
    strength: float
    method: str
    seed: int
