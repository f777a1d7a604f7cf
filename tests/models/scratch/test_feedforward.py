"""Feed-forwards: every activation against its definition, and experts against a loop over tokens."""

from __future__ import annotations

import math

import pytest
import torch

from models.scratch.config import FEEDFORWARDS, TransformerConfig
from models.scratch.feedforward import balance, feedforward
from tests.models.ours import SMALL, scramble, small, texts

DEFINED = {
    "relu": lambda x: max(0.0, x),
    "gelu": lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
    "gelu-tanh": lambda x: x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    "swiglu": lambda x: x / (1 + math.exp(-x)),
}


def build_module(**choices) -> torch.nn.Module:
    torch.manual_seed(0)
    module = feedforward(TransformerConfig(**SMALL | choices)).double()
    scramble(module)
    return module


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", FEEDFORWARDS)
def test_an_activation_is_as_defined(name, bias):
    module, x = build_module(feedforward=name, bias=bias), torch.randn(16, dtype=torch.float64)
    bent = module.gate(x) if name == "swiglu" else module.up(x)
    inside = torch.tensor([DEFINED[name](number.item()) for number in bent], dtype=torch.float64)
    inside = inside * module.up(x) if name == "swiglu" else inside
    torch.testing.assert_close(module(x[None, None])[0, 0], module.down(inside))


@pytest.mark.parametrize("used", [1, 2, 4])
def test_experts_are_shared_out_by_the_softmax_of_the_best_scores(used):
    module, x = build_module(experts=4, experts_used=used), torch.randn(2, 7, 16, dtype=torch.float64)
    output = module(x)
    for row, position in ((0, 0), (1, 6), (0, 3)):
        token = x[row, position]
        scores = (module.router.weight @ token).tolist()
        best = sorted(range(4), key=lambda expert: -scores[expert])[:used]
        total = sum(math.exp(scores[expert]) for expert in best)
        expected = sum(math.exp(scores[expert]) / total * module.experts[expert](token[None])[0] for expert in best)
        torch.testing.assert_close(output[row, position], expected)


def test_balance_is_one_where_experts_are_used_alike_and_their_number_where_one_does_it_all():
    module, x = build_module(experts=4, experts_used=1), torch.eye(16, dtype=torch.float64)[None, :4]
    with torch.no_grad():
        module.router.weight.copy_(50 * torch.eye(4, 16))  # token i goes to expert i
        module(x)
        assert module.balance.item() == pytest.approx(1)
        module(x[:, :1].expand(1, 4, 16))
        assert module.balance.item() == pytest.approx(4)


def test_every_expert_learns_from_its_tokens_and_the_router_from_the_balance():
    module = build_module(experts=3, experts_used=1)
    module(torch.randn(4, 30, 16, dtype=torch.float64)).sum().backward()
    assert all(expert.down.weight.grad.abs().sum() > 0 for expert in module.experts)
    module.zero_grad()
    module(torch.randn(4, 30, 16, dtype=torch.float64))
    module.balance.backward()
    assert module.router.weight.grad.abs().sum() > 0


@pytest.mark.parametrize("choices", [{"feedforward": "swiglu"}, {"experts": 3}], ids=str)
def test_gradients_of_what_is_written_by_hand(choices):
    x = torch.randn(1, 3, 16, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(build_module(**choices), x)


def test_the_balance_of_a_whole_network_learns_with_checkpointing_too():
    gradients = []
    for checkpointing in (False, True):
        network = small(experts=3, checkpointing=checkpointing)
        logits = network(texts())
        (logits.square().mean() + balance(network)).backward()
        gradients.append([block.feedforward.router.weight.grad for block in network.blocks])
    for plain, again in zip(*gradients, strict=True):
        torch.testing.assert_close(plain, again)
    logits = network(texts())
    network.zero_grad()
    logits.square().mean().backward()
    assert not torch.allclose(network.blocks[0].feedforward.router.weight.grad, gradients[0][0])
    with pytest.raises(ValueError, match="no mixture of experts"):
        balance(small())
