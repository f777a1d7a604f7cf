"""The rank correlation of two sets of numbers."""

from __future__ import annotations

from functools import cache

import numpy as np

DRAWS = 400  # times that orders are drawn


def rank_correlation(first: np.ndarray, second: np.ndarray) -> float | None:
    """Return Spearman's rank correlation of two arrays; None where either is constant."""
    from scipy.stats import spearmanr

    ranks = [np.unique(values, return_inverse=True)[1] for values in (first, second)]
    if min(rank.max() for rank in ranks) == 0:
        return None
    return float(spearmanr(*ranks).statistic)


@cache
def extremes_by_chance(orders: int, items: int) -> tuple[float, float]:
    """Return the highest and the lowest rank correlation among the pairs of so many random orders of so many items, each the
    median of 400 draws with a fixed seed.

    Errors: ValueError for fewer than two orders or items.
    """
    if min(orders, items) < 2:
        raise ValueError(f"Two orders of two items have a rank correlation, but not {orders} of {items}.")
    random, pairs = np.random.default_rng(0), np.triu_indices(orders, 1)
    highest, lowest = [], []
    for _ in range(DRAWS):
        correlations = np.corrcoef(random.permuted(np.tile(np.arange(items), (orders, 1)), axis=1))[pairs]
        highest.append(correlations.max())
        lowest.append(correlations.min())
    return float(np.median(highest)), float(np.median(lowest))
