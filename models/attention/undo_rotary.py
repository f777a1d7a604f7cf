"""The angles by which rotary positions turned the queries and keys of a model, and how to turn them back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from models.numbers.readonly import read_only


@dataclass(frozen=True, eq=False)
class Rotary:
    """The angles by which pairs of dimensions were turned.

    frequencies: radians a position, one a pair of dimensions [pairs]. pairs: "halves" pairs dimension i with i + pairs (Llama,
    GPT-NeoX and our own transformer), "neighbours" 2i with 2i + 1 (the paper). start: the first dimension that is turned; those
    before it and beyond the pairs are not. The positions are 0, 1, 2, … from the first token on.
    Source: Su et al. 2021, "RoFormer", eq. 15.
    """

    frequencies: np.ndarray
    pairs: Literal["halves", "neighbours"] = "halves"
    start: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies", read_only(self.frequencies))

    def undone(self, x: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Turn queries or keys [position, d_head] back to what they were before: float64 of the same shape."""
        x = np.asarray(x, dtype=np.float64)
        count = len(self.frequencies)
        if self.pairs not in ("halves", "neighbours") or self.start + 2 * count > x.shape[-1]:
            raise ValueError(f"{count} pairs by {self.pairs!r} from {self.start} do not fit {x.shape[-1]} dimensions.")
        first, second = self.dimensions.T
        angles = np.asarray(positions)[:, None] * np.asarray(self.frequencies, dtype=np.float64)  # [position, pairs]
        cos, sin = np.cos(angles), np.sin(angles)
        back = x.copy()
        back[:, first] = x[:, first] * cos + x[:, second] * sin
        back[:, second] = x[:, second] * cos - x[:, first] * sin
        return back

    @property
    def dimensions(self) -> np.ndarray:
        """The two dimensions of each pair: int64 [pairs, 2]."""
        count, step = len(self.frequencies), np.arange(len(self.frequencies))
        pairs = (step, step + count) if self.pairs == "halves" else (2 * step, 2 * step + 1)
        return self.start + np.stack(pairs, axis=-1)
