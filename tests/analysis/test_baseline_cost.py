"""The cost of networks without attention is what torch counts in them."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from analysis.baseline_cost import baseline_flops, side_by_side
from analysis.cost import BYTES, cache_bytes, costs
from models.scratch.config import TransformerConfig
from models.training.baselines import KERNEL, Baseline, BaselineConfig

SMALL = TransformerConfig(vocabulary=257, context=64, d_model=32, layers=3, heads=2, d_ff=64)


@pytest.mark.parametrize("length", [1, 7])
@pytest.mark.parametrize("network", ["lstm", "gru"])
def test_the_operations_of_a_recurrent_network_are_those_of_its_cells(network, length):
    """A cell for each token, which torch counts: the kernel of the whole text is no product that it knows."""
    config = BaselineConfig(network, 2, 12, 257, 64)
    baseline = Baseline(config)
    cells = [{"lstm": nn.LSTMCell, "gru": nn.GRUCell}[network](12, 12) for _ in range(2)]
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        for at in range(length):
            stream = baseline.embedding(torch.tensor([at]))
            for cell in cells:
                out = cell(stream)
                stream = out[0] if network == "lstm" else out
            baseline.unembedding(stream)
    assert counter.get_total_flops() == baseline_flops(config, length)


@pytest.mark.parametrize("length", [1, 7])
def test_the_operations_of_a_convolution_are_those_that_torch_counts(length):
    config = BaselineConfig("convolution", 2, 12, 257, 64)
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        Baseline(config)(torch.randint(257, (1, length)))
    assert counter.get_total_flops() == baseline_flops(config, length)


def test_they_stand_beside_the_transformer_with_what_each_keeps_and_waits_for():
    first, lstm, gru, convolution = side_by_side(SMALL, 20)
    parts = costs(SMALL, 20)
    assert first.parameters == sum(part.parameters.value for part in parts)
    assert first.flops == sum(part.flops.value for part in parts) and first.memory == cache_bytes(SMALL, 20)
    assert [each.waits for each in (first, lstm, gru, convolution)] == [3, 22, 22, 3]
    assert (lstm.memory, gru.memory) == (BYTES * 3 * 2 * lstm.d_model, BYTES * 3 * gru.d_model)
    assert convolution.memory == BYTES * 3 * (KERNEL - 1) * convolution.d_model
    for each in (lstm, gru, convolution):
        assert each.parameters == pytest.approx(first.parameters, rel=0.05) and each.seconds > 0


@pytest.mark.parametrize("network", ["lstm", "gru"])
def test_what_is_kept_is_enough_to_go_on(network):
    baseline = Baseline(BaselineConfig(network, 1, 12, 257, 64)).eval()
    ids = torch.randint(257, (1, 9))
    cells = baseline.blocks[0].cells
    _, state = cells(baseline.embedding(ids[:, :8]))
    numbers = sum(part.numel() for part in (state if isinstance(state, tuple) else (state,)))
    assert numbers == 12 * (2 if network == "lstm" else 1)
    last = baseline.unembedding(cells(baseline.embedding(ids[:, 8:]), state)[0])
    torch.testing.assert_close(last, baseline(ids)[:, 8:])


def test_no_other_kind_stands_beside_them():
    with pytest.raises(ValueError, match=r"not beside an encoder\.$"):
        next(side_by_side(TransformerConfig(kind="encoder"), 5))
