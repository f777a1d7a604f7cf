"""The rank correlation, and what random orders reach."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from analysis.ranks import extremes_by_chance, pair_by_chance, rank_correlation


def test_it_is_1_for_the_same_order_and_none_for_a_constant():
    values = np.array([3.0, 1.0, 2.0])
    assert rank_correlation(values, 10 * values) == pytest.approx(1) and rank_correlation(values, -values) == pytest.approx(-1)
    assert rank_correlation(values, np.ones(3)) is None


@pytest.mark.parametrize("items", [200, 1000])
def test_many_items_have_the_extremes_of_the_normal_distribution(items):
    """Of random orders of n items, a pair's correlation deviates by 1/√(n − 1); 28 pairs are nearly independent."""
    high, low = extremes_by_chance(8, items)
    expected = norm.ppf(0.5 ** (1 / 28)) / np.sqrt(items - 1)
    assert high == pytest.approx(expected, rel=0.1) and low == pytest.approx(-expected, rel=0.1)


def test_few_items_reach_both_ends_by_chance():
    assert extremes_by_chance(8, 2) == pytest.approx((1, -1))
    high, low = extremes_by_chance(2, 10)
    assert high == low, "there is only one pair"
    with pytest.raises(ValueError, match="Two orders of two items"):
        extremes_by_chance(8, 1)


def test_the_middle_of_what_two_random_orders_give_is_that_of_the_known_spread():
    low, high = pair_by_chance(100)
    assert (low, high) == pytest.approx((-1.96 / 99**0.5, 1.96 / 99**0.5), abs=0.03), "a variance of 1 / (n − 1)"
    with pytest.raises(ValueError, match="not 1"):
        pair_by_chance(1)
