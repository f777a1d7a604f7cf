"""The rank correlation of two sets of numbers."""

from __future__ import annotations

import numpy as np


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float | None:
    """Return Spearman's rank correlation of two arrays; None where either is constant."""
    from scipy.stats import spearmanr

    ranks = [np.unique(values, return_inverse=True)[1] for values in (first, second)]
    if min(rank.max() for rank in ranks) == 0:
        return None
    return float(spearmanr(*ranks).statistic)
