"""Position encodings in numbers: the page's curves follow from the formulas."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.encodings import encoding
from models.scratch.config import POSITIONS, TransformerConfig


def config(positions: str) -> TransformerConfig:
    return TransformerConfig(d_model=64, heads=4, d_ff=32, layers=1, vocabulary=20, context=128, positions=positions)


@pytest.mark.parametrize("positions", POSITIONS)
def test_every_scheme_can_be_drawn(positions):
    result = encoding(config(positions), 40)
    assert (result.values is None) == (positions == "none")
    for curve in result.by_distance.values():
        assert curve.shape == result.distances.shape and np.isfinite(curve).all()


def test_waves_know_the_distance_alone():
    """PE[p]·PE[p + Δ] = Σ cos(Δ θ_i), whatever p is."""
    result = encoding(config("sinusoidal"), 60)
    theta = 2 * np.pi / result.wavelengths
    np.testing.assert_allclose(
        result.by_distance["PE · PE"], np.cos(np.outer(result.distances, theta)).sum(-1), rtol=1e-4, atol=1e-4
    )
    np.testing.assert_allclose(result.wavelengths[[0, -1]], [2 * np.pi, 2 * np.pi * 10_000 ** (62 / 64)])


def test_turning_takes_from_the_product_with_distance():
    result = encoding(config("rotary"), 60)
    theta = 2 * np.pi / result.wavelengths
    np.testing.assert_allclose(result.by_distance["q·k"], np.cos(np.outer(result.distances, theta)).mean(-1), atol=1e-5)


def test_each_head_has_its_slope():
    result = encoding(config("alibi"), 10)
    heads = np.arange(4)  # counted from 0, as everywhere on screen
    np.testing.assert_allclose(result.values, -np.outer(2.0 ** (-8 * (heads + 1) / 4), np.arange(10)), rtol=1e-6)
    assert (result.down, result.across) == ("head", "steps back")
    assert result.title == "Added to the score" and result.values.max() == 0, "what is drawn is added, and below zero"
