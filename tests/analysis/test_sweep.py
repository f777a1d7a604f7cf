"""Sweeps: power laws are those of least squares, runs are counted and measured as they say, and no run reads the book's end."""

from __future__ import annotations

import numpy as np
import pytest
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from analysis.cost import measure
from analysis.sweep import HELD_OUT, SWEEPS, Run, Size, book, fit, frontier, largest_text, loss_on, operations, sweep
from models.training.live import Budget, Training, inputs
from models.training.tasks import text

TINY = (Size(1, 8, 4_000), Size(1, 16, 8_000))


@settings(max_examples=50, deadline=None)
@given(st.floats(-2, 2), st.floats(0.1, 10))
def test_an_exact_power_law_is_recovered(exponent, factor):
    x = np.array([10.0, 100.0, 500.0, 3000.0])
    law = fit(x, factor * x**exponent)
    assert law.exponent == pytest.approx(exponent, abs=1e-9) and law.factor == pytest.approx(factor, rel=1e-6)
    assert law.low == pytest.approx(law.high, abs=1e-6)
    np.testing.assert_allclose(law(x), factor * x**exponent, rtol=1e-6)


def test_the_interval_has_the_exponent_in_it_in_95_of_100_cases():
    """Against its meaning: 2,000 sweeps whose logarithms scatter normally. The standard error of the share is 0.5 points."""
    rng, x = np.random.default_rng(0), np.repeat([10.0, 100.0, 1000.0, 10_000.0], 2)
    laws = [fit(x, np.exp(-0.1 * np.log(x) + rng.normal(0, 0.05, len(x)))) for _ in range(2000)]
    assert np.mean([law.low <= -0.1 <= law.high for law in laws]) == pytest.approx(0.95, abs=0.02)
    flat = [fit(x, np.exp(rng.normal(0, 0.05, len(x)))).is_clear for _ in range(2000)]
    assert np.mean(flat) == pytest.approx(0.05, abs=0.02), "a trend where there is none is as rare"


def test_too_little_for_a_law_is_refused():
    for x in ([1.0, 2.0], [3.0, 3.0, 3.0]):
        with pytest.raises(ValueError, match="three points"):
            fit(x, x)


def test_runs_are_measured_on_the_end_of_the_book_that_none_has_read():
    whole, reports = book(), []
    assert max(size.learned for sizes in SWEEPS.values() for size in sizes) <= len(whole) - HELD_OUT
    runs = sweep(TINY, steps=5, seeds=(0, 1), report=lambda share, words: reports.append((share, words)))
    assert [(run.size, run.seed) for run in runs] == [(size, seed) for size in TINY for seed in (0, 1)]
    shares = [share for share, _ in reports]
    assert shares == sorted(shares) and shares[-1] == 1 and reports[0][1].startswith("Run 1 of 4: 1 layer, width 8")
    training = Training(text(whole[:4_000].decode()), TINY[0].config, Budget(steps=5, every=5, seed=0))
    training.advance(5)
    assert runs[0].losses[-1] == pytest.approx(loss_on(training, whole[-HELD_OUT:].decode("utf-8", "ignore")), rel=1e-6)
    embedding = sum(module.weight.numel() for module in training.network.modules() if isinstance(module, nn.Embedding))
    assert runs[0].parameters == sum(weight.numel() for weight in training.network.parameters()) - embedding
    assert largest_text(runs) == runs[2:]
    with pytest.raises(ValueError, match="to learn from"):
        sweep([Size(1, 8, len(whole))])


def test_a_loss_is_the_cross_entropy_of_the_network():
    typed = book()[:2_000].decode()
    training = Training(text(typed), TINY[0].config, Budget(steps=1))
    ids, known = text(typed).batch(np.random.default_rng(0), 128)
    logits = training.network.eval()(inputs(ids))
    mask = np.asarray(known)
    expected = F.cross_entropy(logits[mask], logits.new_tensor(ids[mask]).long())
    assert loss_on(training, typed) == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("size", TINY)
def test_operations_are_those_that_are_measured(size):
    assert operations(size.config, 48) == sum(measure(size.config, 48).flops.values())


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(1, 100), st.floats(1, 100)), min_size=1, max_size=30))
def test_no_point_beats_one_of_the_frontier(points):
    runs = [Run(TINY[0], 0, 1, np.array([at]), np.array([loss]), 0.0) for at, loss in points]
    at, losses = frontier(runs)
    assert (np.diff(losses) < 0).all() and (np.diff(at) > 0).all()
    for x, y in zip(at, losses, strict=True):
        assert not any(other <= x and loss < y for other, loss in points)
    assert losses[-1] == min(loss for _, loss in points)
