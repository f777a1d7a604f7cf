"""One number of each layer: what is noted of it is what torch's optimizers remember, and its moves are those of the formula."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from models.scratch.config import TransformerConfig
from models.training.live import DECAYS, SIZES, Budget, Training
from models.training.optimizers import EPSILON
from models.training.tasks import TASKS

SMALL = SIZES | {"d_model": 16, "heads": 2, "d_ff": 16, "context": 24}
STEPS = 6


def trained(optimizer: str, **budget) -> Training:
    run = Training(TASKS["copy"](), TransformerConfig(**SMALL), Budget(steps=STEPS, rows=2, optimizer=optimizer, **budget))
    run.advance(STEPS)
    return run


@pytest.mark.parametrize("optimizer", ["adam", "adamw"])
def test_the_memory_is_that_of_torch_for_the_same_gradients(optimizer):
    run = trained(optimizer, decay=0.0)
    for weight in run.one_weights:
        number = torch.nn.Parameter(torch.tensor([weight.value[0]]))
        peer = torch.optim.AdamW([number], lr=1.0, betas=(0.9, 0.95), eps=EPSILON, weight_decay=0.0)
        for at in range(STEPS):
            peer.param_groups[0]["lr"] = run.curves.rate[at]
            number.grad = torch.tensor([weight.gradient[at]])
            peer.step()
            memory = peer.state[number]
            assert weight.mean[at] == pytest.approx(float(memory["exp_avg"]) / (1 - 0.9 ** (at + 1)), rel=1e-4)
            assert weight.root[at] == pytest.approx(math.sqrt(float(memory["exp_avg_sq"]) / (1 - 0.95 ** (at + 1))), rel=1e-4)
            assert weight.value[at] + weight.moved[at] == pytest.approx(float(number.detach()), rel=1e-4, abs=1e-6)


def test_adamw_moves_a_number_by_its_formula_and_its_decay():
    run = trained("adamw")
    rates = np.array(run.curves.rate)
    for weight in run.one_weights:
        value, mean, root, moved = (np.array(each) for each in (weight.value, weight.mean, weight.root, weight.moved))
        np.testing.assert_allclose(moved, -rates * (mean / (root + EPSILON) + DECAYS["adamw"] * value), rtol=1e-3, atol=1e-7)
        np.testing.assert_allclose(value[1:], value[:-1] + moved[:-1], rtol=1e-5, atol=1e-7)
        assert weight.now == pytest.approx(value[-1] + moved[-1], abs=1e-6)


@pytest.mark.parametrize("optimizer", ["muon", "sgd"])
def test_other_optimizers_have_a_mean_and_no_square(optimizer):
    run = trained(optimizer)
    assert [weight.name for weight in run.one_weights] == [f"blocks.{layer}.attention.query.weight" for layer in range(2)]
    for weight in run.one_weights:
        assert np.isfinite(weight.mean).all() and np.isnan(weight.root).all() and np.abs(weight.moved).max() > 0
        assert len(weight.value) == STEPS


def test_what_was_noted_can_be_read_while_the_training_goes_on():
    """An array that somebody looks into cannot grow."""
    run = trained("adamw")
    weight = run.one_weights[0]
    noted = weight.noted()
    weight.note(weight.now, None)
    assert all(len(values) == STEPS and values.dtype == np.float32 for values in noted.values())
    weight.value.append(0.0)  # of a step that is being noted
    assert all(len(values) == STEPS + 1 for values in weight.noted().values())


def test_a_step_that_is_left_out_moves_nothing_and_is_noted_so():
    run = trained("adamw")
    weight = run.one_weights[0]
    weight.note(weight.now, None)
    assert len(weight.value) == STEPS + 1 and math.isnan(weight.gradient[-1]) and math.isnan(weight.moved[-1])
