"""Packs causal maps without their upper triangle, which halves their bytes."""

from __future__ import annotations

import numpy as np


def looks_back_only(maps: np.ndarray) -> bool:
    """Return whether maps [..., query, key] are square and zero above the diagonal; False for a single token."""
    rows, columns = maps.shape[-2:]
    return rows == columns > 1 and not any(maps[..., i, i + 1 :].any() for i in range(rows))


def lower(maps: np.ndarray) -> np.ndarray:
    """Return each map's rows up to the diagonal, one after the other: [..., n (n + 1) / 2]. shared/bytes.js unpacks them."""
    return np.concatenate([maps[..., i, : i + 1] for i in range(maps.shape[-1])], axis=-1)
