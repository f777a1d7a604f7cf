"""Settings of page "Layers", and the results of long calculations that its boards show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from analysis.evolution import Pair
    from analysis.lens import Lens


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    pair_key: the clicked key in "Evolution", and the id of its token. film: whether the maps of one head are played there.
    clicked: the head that was clicked last. lens_layer: the clicked row in "Lens"; lens_token:
    the token of the clicked column, its position and id; colour: the quantity that colours its cells.
    """

    pair_key: tuple[int | None, int | None] = (None, None)
    film: bool = False
    clicked: tuple[int, int] = (-1, -1)
    lens_layer: int | None = None
    lens_token: tuple[int, int] | None = None
    colour: str = "probability"

    def clicked_of(self, layers: int, heads: int, level: str) -> tuple[int, int] | None:
        """Return the head that a beginner clicked last, if the model has it."""
        layer, head = self.clicked
        return self.clicked if 0 <= layer < layers and 0 <= head < heads and level == "beginner" else None


@dataclass(frozen=True)
class Evolution:
    """Results for the board "Evolution".

    mean: [layer, query, key], over heads; in_heads: the pair in every head; film: the maps to play, None until they are
    calculated.
    """

    mean: np.ndarray
    in_heads: Pair
    film: np.ndarray | None


@dataclass(frozen=True)
class Statistics:
    """The table for the board "Statistics": a row for each head (`analysis.head_statistics`)."""

    table: pd.DataFrame


@dataclass(frozen=True)
class Likeness:
    """The distances between heads, [head, head] in bits."""

    divergence: np.ndarray


@dataclass(frozen=True)
class Predictions:
    """Predictions of the layers for the board "Lens". tuned: whether they come from a tuned lens."""

    positions: tuple[int, ...]
    lens: Lens
    tuned: bool


Reading = Evolution | Statistics | Likeness | Predictions
