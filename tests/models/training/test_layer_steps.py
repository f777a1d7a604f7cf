"""The measurements of each layer equal those of autograd and of the weights themselves."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch

from models.scratch.config import TransformerConfig
from models.training.live import Budget, Training, inputs
from models.training.optimisation import IGNORED, smoothed_loss
from models.training.tasks import TASKS

SIZES = {"vocabulary": 257, "context": 64, "d_model": 32, "layers": 3, "heads": 2, "d_ff": 64}


def make(budget: Budget, **sizes) -> Training:
    return Training(TASKS["copy"](), TransformerConfig(**SIZES | sizes), budget)


@pytest.mark.parametrize("place", ["before", "after"])
@pytest.mark.parametrize("optimizer", ["muon", "adamw"])
def test_a_step_is_measured_as_autograd_and_the_weights_say(place, optimizer):
    training = make(Budget(rows=4, every=5, clip=0.01, optimizer=optimizer), norm_place=place)
    network = copy.deepcopy(training.network)
    generator = np.random.default_rng([0, 1])
    ids, known = training.task.batch(generator, 4)
    streams = [network.embedding(inputs(ids))]
    for block in network.blocks:
        block.register_forward_hook(lambda block, given, out: streams.append(out))
    loss = smoothed_loss(network(inputs(ids)), torch.from_numpy(np.where(known, ids, IGNORED)))
    loss.backward()
    training.advance(1)
    (step,) = training.layer_steps
    assert step.step == 1
    for layer in range(3):
        then, now = (of.blocks[layer].parameters() for of in (network, training.network))
        then, now = list(then), list(now)
        assert step.gradient[1 + layer] == pytest.approx(math.sqrt(sum(float(w.grad.square().sum()) for w in then)), rel=1e-4)
        change = math.sqrt(sum(float((new - old).detach().square().sum()) for new, old in zip(now, then, strict=True)))
        assert step.update[1 + layer] == pytest.approx(
            change / math.sqrt(sum(float(w.detach().square().sum()) for w in then)), rel=1e-4
        )
    for stream, mean, spread in zip(streams, step.mean, step.spread, strict=True):
        assert mean == pytest.approx(float(stream.detach().mean()), abs=1e-5)
        assert spread == pytest.approx(float(stream.detach().std(correction=0)), rel=1e-4)
    everything = math.sqrt(float(np.square(step.gradient.astype(np.float64)).sum()))
    assert everything == pytest.approx(training.curves.norm[0], rel=1e-4), "the layers and what is outside are all weights"


def test_measuring_changes_nothing_and_leaves_no_hook():
    often, seldom = make(Budget(rows=2, steps=6, every=1)), make(Budget(rows=2, steps=6, every=6))
    for training in (often, seldom):
        training.advance(6)
    assert [step.step for step in often.layer_steps] == [1, 2, 3, 4, 5, 6] and [step.step for step in seldom.layer_steps] == [1]
    assert often.curves.loss == seldom.curves.loss
    assert all(not block._forward_hooks and not block._forward_pre_hooks for block in often.network.blocks)


def test_a_large_step_in_parts_is_measured_as_a_whole():
    whole, parts = make(Budget(rows=6, every=2)), make(Budget(rows=6, every=2))
    parts._rows = 2
    for training in (whole, parts):
        training.advance(1)
    for name in ("gradient", "update", "mean", "spread"):
        np.testing.assert_allclose(getattr(whole.layer_steps[0], name), getattr(parts.layer_steps[0], name), rtol=1e-3, atol=1e-6)


def test_a_step_that_diverges_is_not_noted_and_leaves_no_hook():
    training = make(Budget(rows=2, every=1, rate=1e30, optimizer="sgd", clip=0.0, warmup=1))
    training.advance(5)
    assert training.state == "diverged"
    assert all(not block._forward_hooks and not block._forward_pre_hooks for block in training.network.blocks)
