"""The bench of √d_k: its numbers follow from what they are named after."""

from __future__ import annotations

import numpy as np
import torch

from analysis.scaling import scaling


def test_products_spread_as_the_root_of_their_size():
    table = scaling(queries=2000)
    np.testing.assert_allclose(table["spread"], table["expected"], rtol=0.05)


def test_scaled_the_softmax_is_the_same_at_every_size():
    table = scaling(sizes=(16, 64, 256), queries=2000)
    assert np.ptp(table["entropy_scaled"]) < 0.1
    assert table["entropy_plain"].is_monotonic_decreasing and table["gradient_plain"].is_monotonic_decreasing
    assert table["largest_plain"].iloc[-1] > 0.8 > 0.4 > table["largest_scaled"].iloc[-1]


def test_the_slope_is_that_of_autograd():
    """One query, one key more: the norm of the softmax's Jacobian."""
    generator = np.random.default_rng(3)
    q, k = generator.normal(size=(1, 1, 8)), generator.normal(size=(1, 5, 8))
    scores = torch.from_numpy((q * k).sum(-1)[0])
    slope = torch.autograd.functional.jacobian(lambda z: z.softmax(-1), scores).norm().item()
    table = scaling(sizes=(8,), keys=5, queries=1, seed=3)
    np.testing.assert_allclose(table["gradient_plain"][0], slope, rtol=1e-9)
    np.testing.assert_allclose(table["spread"][0], scores.numpy().std(), rtol=1e-9)
