"""The reason for dividing scores by √d_k: the softmax without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.statistics import entropy_of

if TYPE_CHECKING:
    import pandas as pd

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


def scaling(sizes: tuple[int, ...] = SIZES, keys: int = 32, queries: int = 400, seed: int = 0) -> pd.DataFrame:
    """Return statistics of random q·k, with entries of mean 0 and variance 1, for each size d_k: a row each.

    d_k; spread: the standard deviation of q·k, expected: √d_k; and for the softmax of q·k over so many keys, undivided ("plain")
    and divided by √d_k ("scaled"): entropy_…, its mean in nats; largest_…, the mean of the largest weight; gradient_…, the mean
    size of its slope ‖diag(p) − p pᵀ‖_F, through which a query learns. Source: Vaswani et al. 2017, section 3.2.1, footnote 4.
    """
    import pandas as pd

    generator, rows = np.random.default_rng(seed), []
    for size in sizes:
        q, k = generator.normal(size=(queries, 1, size)), generator.normal(size=(queries, keys, size))
        scores = (q * k).sum(-1)  # [query, key]
        row = {"d_k": size, "spread": scores.std(), "expected": np.sqrt(size)}
        for name, values in (("plain", scores), ("scaled", scores / np.sqrt(size))):
            p = np.exp(values - values.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            square = (p**2).sum(-1)
            slope = square - 2 * (p**3).sum(-1) + square**2  # of Σ (p_i δ_ij − p_i p_j)²
            row |= {
                f"entropy_{name}": entropy_of(p).mean(),
                f"largest_{name}": p.max(-1).mean(),
                f"gradient_{name}": np.sqrt(np.maximum(0, slope)).mean(),
            }
        rows.append(row)
    return pd.DataFrame(rows)
