"""Schedules of the learning rate, against those of transformers and the formula of the paper."""

from __future__ import annotations

import math

import pytest
import torch
import transformers
from hypothesis import given
from hypothesis import strategies as st

from models.training.live import Budget
from models.training.schedules import SCHEDULES, rate_share

PEERS = {
    "constant": lambda optimizer, steps, warmup: transformers.get_constant_schedule_with_warmup(optimizer, warmup),
    "linear": lambda optimizer, steps, warmup: transformers.get_linear_schedule_with_warmup(optimizer, warmup, steps),
    "cosine": lambda optimizer, steps, warmup: transformers.get_cosine_schedule_with_warmup(optimizer, warmup, steps),
}


@pytest.mark.parametrize("name", PEERS)
def test_after_the_warm_up_it_is_that_of_transformers(name):
    """During the warm-up theirs is a step later: its first step has a rate of 0, and changes nothing."""
    steps, warmup = 50, 8
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    peer, theirs = PEERS[name](optimizer, steps, warmup), []
    for _ in range(steps):
        theirs.append(peer.get_last_lr()[0])
        optimizer.step()
        peer.step()
    ours = [rate_share(name, step, steps, warmup) for step in range(steps)]
    assert ours[warmup:] == pytest.approx(theirs[warmup:])
    assert ours[: warmup - 1] == pytest.approx(theirs[1:warmup])


def test_the_original_one_is_the_formula_of_its_paper_as_a_share_of_its_peak():
    d_model, warmup = 512, 40
    formula = [d_model**-0.5 * min(step**-0.5, step * warmup**-1.5) for step in range(1, 501)]
    peak = 1 / math.sqrt(d_model * warmup)
    assert max(formula) == pytest.approx(peak)
    ours = [rate_share("original", step, 500, warmup) for step in range(500)]
    assert ours == pytest.approx([rate / peak for rate in formula])


@given(name=st.sampled_from(SCHEDULES), steps=st.integers(1, 300), warmup=st.integers(1, 400))
def test_it_rises_to_at_most_the_whole_rate_and_then_never_again(name, steps, warmup):
    shares = [rate_share(name, step, steps, warmup) for step in range(steps)]
    top = shares.index(max(shares))
    assert all(0 <= share <= 1 for share in shares) and shares[0] > 0
    assert shares[: top + 1] == sorted(shares[: top + 1]) and shares[top:] == sorted(shares[top:], reverse=True)
    assert top < max(1, warmup)


def test_a_budget_has_its_rate_at_each_step():
    budget = Budget(steps=100, rate=0.01, warmup=10, schedule="cosine")
    assert budget.rate_at(0) == pytest.approx(0.001) and budget.rate_at(10) == pytest.approx(0.01)
    assert budget.rate_at(55) == pytest.approx(0.005) and budget.rate_at(100) == pytest.approx(0)
    with pytest.raises(ValueError, match="schedule must be one of"):
        rate_share("up", 0, 10, 1)
