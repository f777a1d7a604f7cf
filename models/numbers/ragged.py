"""Arrays of layers with different numbers of heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def stacked(rows: Sequence[np.ndarray]) -> np.ndarray:
    """Stack the arrays of layers, [heads, …] each, to one array [layers, heads, …].

    Heads that a layer does not have are NaN, and 0 among whole numbers.
    """
    heads = max(len(row) for row in rows)
    if all(len(row) == heads for row in rows):
        return np.stack(rows)
    blank = np.nan if np.issubdtype(rows[0].dtype, np.floating) else 0
    return np.stack([np.concatenate([row, np.full((heads - len(row), *row.shape[1:]), blank, row.dtype)]) for row in rows])
