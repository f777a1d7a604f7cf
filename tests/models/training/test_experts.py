"""The use of experts: its measure at both ends, the shares of a forward pass, and the loss that keeps them alike in a step."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import entropy

from models.scratch.config import TransformerConfig
from models.scratch.feedforward import MixtureOfExperts, balance, expert_shares
from models.training.baselines import network_of
from models.training.experts import in_use
from models.training.live import SIZES, Budget, Training, inputs
from models.training.tasks import TASKS

SMALL = SIZES | {"d_model": 16, "heads": 2, "d_ff": 8, "context": 24}


def training(experts: int = 4, **budget) -> Training:
    config = TransformerConfig(**SMALL | {"experts": experts})
    return Training(TASKS["copy"](), config, Budget(**{"steps": 2, "every": 1, "rows": 4} | budget))


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 4), st.integers(1, 8), st.integers(0, 2**31))
def test_experts_in_use_are_e_to_the_entropy_of_their_shares(mixtures, count, seed):
    shares = np.random.default_rng(seed).dirichlet(np.full(count, 0.5), mixtures)
    assert in_use(shares) == pytest.approx(np.exp(entropy(shares, axis=1)).mean())
    assert in_use(np.full((mixtures, count), 1 / count)) == pytest.approx(count)
    assert in_use(np.eye(count)) == 1
    with pytest.raises(ValueError, match="no mixture"):
        in_use(np.zeros((0, 0)))


def test_a_snapshot_has_the_share_of_tokens_at_each_expert():
    run = training()
    shares = run.snapshots[0].experts
    assert shares.shape == (2, 4) and shares.dtype == np.float32
    np.testing.assert_allclose(shares.sum(1), 1, rtol=1e-6)
    assert training(experts=1).snapshots[0].experts.size == 0
    ids = torch.randint(256, (3, 7))
    mixtures = [module for module in run.network.modules() if isinstance(module, MixtureOfExperts)]
    chosen = []
    handles = [
        mixture.router.register_forward_hook(lambda _, args, out: chosen.append(out.topk(2).indices)) for mixture in mixtures
    ]
    run.predict(ids)
    for handle in handles:
        handle.remove()
    counted = [torch.bincount(each.flatten(), minlength=4) / each.numel() for each in chosen]
    torch.testing.assert_close(expert_shares(run.network), torch.stack(counted))


def test_the_balance_loss_moves_a_step_by_its_own_gradient():
    """Gradient descent without decay and clipping: two runs that differ in it differ by rate · weight · ∇balance."""
    choices = {"optimizer": "sgd", "clip": 0.0, "rate": 0.1, "seed": 3}
    without, with_it = training(**choices), training(**choices, balance=0.5)
    torch.manual_seed(3)
    network = network_of(without.config)
    ids, _ = without.task.batch(np.random.default_rng([3, 1]), 4)
    network.train()(inputs(ids))
    balance(network).backward()
    for run in (without, with_it):
        run.advance(1)
    factor = 0.5 * without.budget.rate_at(0)
    moved = 0.0
    for (name, first), second, start in zip(
        without.network.named_parameters(), with_it.network.parameters(), network.parameters(), strict=True
    ):
        expected = torch.zeros_like(first) if start.grad is None else -factor * start.grad
        torch.testing.assert_close(second - first, expected, rtol=1e-3, atol=1e-7, msg=name)
        moved += float(expected.abs().sum()) * name.endswith("router.weight")
    assert moved > 0 and without.curves.loss[0] == with_it.curves.loss[0], "the loss of the answers alone is noted"


def test_the_weight_of_the_balance_loss_is_a_number_from_0_on():
    with pytest.raises(ValueError, match="from 0 on; it is -1"):
        Budget(balance=-1)
    assert training(experts=1, balance=0.5).advance(2) is None, "a single feed-forward has nothing to balance"
