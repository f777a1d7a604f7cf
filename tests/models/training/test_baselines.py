"""Networks without attention are torch's own, as large as the transformer that they stand beside, and see no later token."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import safetensors.torch
import torch
from torch import nn

from models.scratch.config import TransformerConfig
from models.scratch.transformer import build
from models.training.baselines import BASELINES, KERNEL, Baseline, BaselineConfig, count_parameters, matching
from models.training.live import OPTIMIZERS, SIZES, Budget, Training, inputs
from models.training.tasks import TASKS
from tests.grids import grid


def make(network: str, layers: int = 2, width: int = 12) -> BaselineConfig:
    return BaselineConfig(network, layers, width, 257, 64)


@pytest.mark.parametrize(("network", "theirs"), [("lstm", nn.LSTM), ("gru", nn.GRU)])
def test_a_recurrent_network_is_torchs_own_of_as_many_layers(network, theirs):
    baseline, peer = Baseline(make(network, layers=3)), theirs(12, 12, num_layers=3, batch_first=True)
    with torch.no_grad():
        for layer, block in enumerate(baseline.blocks):
            for name, weight in block.cells.named_parameters():
                getattr(peer, name.replace("l0", f"l{layer}")).copy_(weight)
    ids = torch.randint(257, (2, 9))
    expected = baseline.unembedding(peer(baseline.embedding(ids))[0])
    torch.testing.assert_close(baseline(ids), expected)


def test_a_convolution_sees_its_kernel_in_each_layer_and_no_more():
    network = Baseline(make("convolution", layers=2)).eval()
    ids = torch.randint(257, (1, 12))
    other = ids.clone()
    other[0, 2] = (ids[0, 2] + 1) % 257
    changed = (network(ids) - network(other)).abs().amax(-1)[0] > 1e-7
    assert changed.nonzero().ravel().tolist() == list(range(2, 2 + 2 * (KERNEL - 1) + 1))


@pytest.mark.parametrize("network", BASELINES)
def test_no_later_token_is_seen(network):
    baseline = Baseline(make(network)).eval()
    ids = torch.randint(257, (1, 10))
    whole = baseline(ids)
    for length in (1, 4, 9):
        torch.testing.assert_close(baseline(ids[:, :length]), whole[:, :length])


@pytest.mark.parametrize("network", BASELINES)
@pytest.mark.parametrize("sizes", [{}, {"layers": 1, "d_model": 16, "heads": 2}, {"layers": 4, "d_model": 128}])
def test_it_has_as_many_parameters_as_the_transformer_as_near_as_a_width_brings_it(network, sizes):
    config = TransformerConfig(**SIZES | sizes)
    wanted, chosen = count_parameters(lambda: build(config)), matching(network, config)

    def off(width: int) -> int:
        return abs(sum(weight.numel() for weight in Baseline(make(network, config.layers, width)).parameters()) - wanted)

    assert chosen.layers == config.layers and chosen.heads == 0
    assert off(chosen.d_model) <= min(off(chosen.d_model - 1), off(chosen.d_model + 1))


@pytest.mark.parametrize(
    ("network", "optimizer"), grid(product(BASELINES, OPTIMIZERS), [*zip(BASELINES, OPTIMIZERS, strict=False)])
)
def test_it_learns_is_measured_in_each_layer_and_has_no_heads(network, optimizer):
    budget = Budget(steps=30, rows=8, every=10, rate=3e-3 if optimizer != "sgd" else 0.1, optimizer=optimizer)
    training = Training(TASKS["brackets"](), make(network, width=32), budget)
    training.advance(31)
    first, last = training.snapshots[0], training.snapshots[-1]
    assert training.state == "done" and last.loss < first.loss
    length = training.task.length
    assert last.attention.shape == (2, 0, length, length) and last.entropy.shape == last.induction.shape == (2, 0)
    for step in training.layer_steps:
        whole = math.sqrt(float(np.square(step.gradient.astype(np.float64)).sum()))
        assert whole == pytest.approx(training.curves.norm[step.step - 1], rel=1e-4) and (step.update[1:] > 0).all()


def test_its_weights_are_taken_away_and_are_no_model_of_the_other_pages(tmp_path):
    training = Training(TASKS["copy"](), make("gru"), Budget(steps=4, rows=2, every=2))
    training.advance(2)
    network = Baseline(make("gru"))
    network.load_state_dict(safetensors.torch.load(training.weights()))
    ids = inputs(training.task.batch(np.random.default_rng(0), 2)[0])
    torch.testing.assert_close(network(ids), training.network(ids))
    with pytest.raises(ValueError, match=r"no attention to show\.$"):
        training.write(tmp_path)


@pytest.mark.parametrize("sizes", [{"network": "rnn"}, {"layers": 0}, {"d_model": 0}])
def test_a_network_that_cannot_be_is_refused_in_a_sentence(sizes):
    with pytest.raises(ValueError, match=r"\.$"):
        BaselineConfig(**{"network": "gru", "layers": 1, "d_model": 8, "vocabulary": 257, "context": 64} | sizes)
