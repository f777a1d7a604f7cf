"""Patches that stand out by their length: a planted one is found, what it gets is its column's mean, and chance gives none."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import models
from analysis.outliers import outliers
from models.tokens import Patch


class Weights(list):
    """Attention [head, query, key] of each layer."""

    @property
    def layers(self) -> int:
        return len(self)


def patch(number: int) -> Patch:
    return Patch(number, f"row 1, column {number}", 0, 0, column=number, pixels=np.zeros((1, 1, 1), np.float32), grid=None)


def planted(seed: int = 0, far: dict[int, float] | None = None, scale: float = 1.0, count: int = 49):
    """A trace of one token and patches with normally scattered lengths, of which some are multiplied after the second layer."""
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(4, count + 1, 16))
    directions /= np.linalg.norm(directions, axis=-1, keepdims=True)
    hidden = scale * directions * (10 + rng.normal(size=(4, count + 1, 1)))
    for at, times in (far or {}).items():
        hidden[2, at] *= times
    weights = rng.random((3, 2, count + 1, count + 1))
    weights /= weights.sum(-1, keepdims=True)
    tokens = [SimpleNamespace(text="[CLS]"), *(patch(i) for i in range(count))]
    return SimpleNamespace(tokens=tokens, hidden={"self": hidden}, attention={"self": Weights(weights)})


def test_planted_patches_are_found_with_the_attention_that_they_get():
    trace = planted(far={5: 3.0, 20: 6.0})
    far = outliers(trace)
    assert far.positions == (20, 5) and (far.layer, far.reader) == (1, 2)
    lengths = np.linalg.norm(trace.hidden["self"][2, 1:], axis=-1)
    assert far.ratio == pytest.approx(lengths.max() / np.median(lengths))
    each = trace.attention["self"][2].mean((0, 1))
    assert far.received == pytest.approx(each[[5, 20]].sum()) and far.even == pytest.approx(2 / 50)
    assert far.leading == pytest.approx(each[0]) and far.leading_even == pytest.approx(1 / 50)
    assert outliers(planted(far={5: 3.0, 20: 6.0}, scale=1e-3)).positions == far.positions, "whatever the unit"


def test_lengths_that_scatter_normally_have_seldom_an_outlier():
    """None of these pictures has any; the bound leaves room for other machines’ random numbers."""
    assert np.mean([bool(outliers(planted(seed)).positions) for seed in range(300)]) < 0.05


def test_patches_of_one_length_have_none():
    trace = planted()
    states = trace.hidden["self"]
    states /= np.linalg.norm(states, axis=-1, keepdims=True)
    assert outliers(trace).positions == () and outliers(trace).ratio == pytest.approx(1)


def test_a_text_has_no_patches_and_the_digits_model_is_measured():
    with pytest.raises(ValueError, match="four patches"):
        outliers(models.load("writer").trace("The cat"))
    digits = models.load("digits")
    trace = digits.trace("digit 8")
    far = outliers(trace)
    total = np.asarray(trace.attention["self"][far.reader]).mean((0, 1))
    patches = [at for at, token in enumerate(trace.tokens) if isinstance(token, Patch)]
    assert far.leading == pytest.approx(1 - total[patches].sum(), abs=1e-6)
