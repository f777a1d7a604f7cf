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
def pair_by_chance(items: int) -> tuple[float, float]:
    """Return the two rank correlations between which 95 % of those of two random orders of so many items lie, in 2000 draws with
    a fixed seed.

    Errors: ValueError for fewer than two items.
    """
    if items < 2:
        raise ValueError(f"Two items have a rank correlation, but not {items}.")
    random = np.random.default_rng(0).permuted(np.tile(np.arange(items), (5 * DRAWS, 1)), axis=1)
    low, high = np.quantile([np.corrcoef(np.arange(items), order)[0, 1] for order in random], [0.025, 0.975])
    return float(low), float(high)


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
