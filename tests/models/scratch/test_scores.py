"""Scores: every variant of attention against a loop over its definition, and against its record."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch

from models.attention.kernel import attend, softmax_attention
from models.attention.recorder import recording
from models.scratch.config import KINDS, TransformerConfig
from models.scratch.positions import relative_buckets
from models.scratch.transformer import MultiHeadAttention, Stack, build
from tests.models.ours import SMALL, answer, scramble, small, texts

# Every score, position and pattern once, and some of them together.
VARIANTS = [
    {},
    {"temperature": 2.0},
    {"kv_heads": 2},
    {"kv_heads": 1},
    {"qk_norm": False},
    {"positions": "none"},
    {"positions": "alibi"},
    {"positions": "relative"},
    {"pattern": "window"},
    {"pattern": "bigbird"},
    {"score": "additive"},
    {"score": "multiplicative"},
    {"score": "additive", "temperature": 0.5, "positions": "alibi", "kv_heads": 2},
    {"score": "multiplicative", "positions": "relative", "pattern": "strided", "temperature": 3.0},
]
CHEAPER = [{"computed": "performer"}, {"computed": "performer", "kv_heads": 1}, {"computed": "linformer"}]
OF_KINDS = [
    (kind, choices)
    for kind, choices in itertools.product(KINDS, VARIANTS + CHEAPER)
    if choices.get("computed") != "linformer" or kind == "encoder"
]


def score(attention: MultiHeadAttention, stack: Stack, head: int, q: np.ndarray, k: np.ndarray, i: int, j: int) -> float:
    """Return the score of one query and one key by its definition."""
    config = attention.config
    if config.qk_norm:
        q = q / math.sqrt((q**2).mean() + np.finfo(np.float32).eps) * attention.query_norm.weight.detach().numpy()
        k = k / math.sqrt((k**2).mean() + np.finfo(np.float32).eps) * attention.key_norm.weight.detach().numpy()
    if config.positions == "rotary":
        angles = 10_000.0 ** (-np.arange(config.d_head // 2) / (config.d_head // 2))
        q, k = ((vector[:2] + 1j * vector[2:]) * np.exp(1j * at * angles) for vector, at in ((q, i), (k, j)))
        q, k = (np.concatenate([vector.real, vector.imag]) for vector in (q, k))
    if config.score == "dot":
        value = q @ k / math.sqrt(config.d_head)
    elif config.score == "multiplicative":
        value = q @ attention.score.between[head].detach().numpy() @ k
    else:
        value = attention.score.vector[head].detach().numpy() @ np.tanh(q + k)
    value /= config.temperature
    if config.positions == "alibi":
        value -= 2.0 ** (-8 * (head + 1) / config.heads) * abs(i - j)
    if config.positions == "relative":
        bucket = relative_buckets(torch.tensor(j - i), not stack.future, 32, 128)
        value += stack.positions.embedding.weight[bucket, head].item()
    return value


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
@pytest.mark.parametrize("choices", VARIANTS, ids=str)
def test_attention_is_the_sum_over_its_definition(choices, kind):
    stack = small(kind=kind, **choices).double()
    attention, config, n = stack.blocks[0].attention, stack.config, 7
    x = torch.randn(1, n, 16, dtype=torch.float64)
    reading = stack.reading(0, n, None, None)
    output = attention(x, reading, 0)[0].detach().numpy()
    q, k, v = (
        linear(x)[0].unflatten(-1, (-1, 4)).detach().numpy() for linear in (attention.query, attention.key, attention.value)
    )
    mask = np.ones((n, n), dtype=bool) if reading.mask is None else reading.mask.numpy()
    mask = mask if kind == "encoder" else np.tril(mask)
    gathered = np.zeros((n, 4, 4))
    for head, i in itertools.product(range(4), range(n)):
        shared = head * config.key_heads // config.heads
        keys = [j for j in range(n) if mask[i, j]]
        weights = np.exp([score(attention, stack, head, q[i, head], k[j, shared], i, j) for j in keys])
        gathered[i, head] = weights / weights.sum() @ v[keys, shared]
    np.testing.assert_allclose(output, gathered.reshape(n, 16) @ attention.output.weight.detach().numpy().T, atol=1e-6)


@pytest.mark.parametrize(("kind", "choices"), OF_KINDS, ids=str)
def test_what_is_recorded_is_what_was_computed(kind, choices):
    """Weights times values is what the heads gave, row by row, in every layer; and looking changes nothing."""
    network, gave = small(kind=kind, **choices), []
    plain = answer(network, texts())
    for name, module in network.named_modules():
        if isinstance(module, MultiHeadAttention):
            assert name.endswith(("attention", "cross"))
            module.output.register_forward_pre_hook(lambda _, inputs: gave.append(inputs[0][0]))
    with recording() as record:
        torch.testing.assert_close(answer(network, texts()), plain, atol=1e-5, rtol=1e-5)
    assert len(record.calls) == len(gave) == {"encoder-decoder": 6}.get(kind, 2)
    for call, out in zip(record.calls, gave, strict=True):
        output = call.weights() @ call.expanded("value")  # [heads, query, d_head]
        torch.testing.assert_close(output.transpose(0, 1).flatten(1), out, atol=1e-5, rtol=1e-4)
        if choices.get("computed") != "linformer":  # its rows may learn not to: see test_cheaper
            torch.testing.assert_close(call.weights().sum(-1), torch.ones(4, 12), atol=1e-5, rtol=0)


@pytest.mark.parametrize("choices", [{"positions": "alibi"}, {"pattern": "bigbird"}, {"temperature": 2.0}], ids=str)
def test_recorded_scores_are_those_that_the_softmax_was_taken_of(choices):
    network = small(kind="encoder", **choices)
    with recording() as record:
        network(texts())
    call = record.calls[0]
    hidden = call.mask if call.mask is not None else torch.ones(12, 12, dtype=torch.bool)
    torch.testing.assert_close(call.scores().masked_fill(~hidden, -torch.inf).softmax(-1), call.weights(), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("queries", [1, 3, 6])
@pytest.mark.parametrize("kv_heads", [4, 2, 1])
@pytest.mark.parametrize("future", [True, False])
@pytest.mark.parametrize("extra", ["", "mask", "bias", "mask and bias"])
def test_the_kernel_and_the_sum_written_out_agree(queries, kv_heads, future, extra, monkeypatch):
    """In training on a CPU the sum is written out, to be compiled."""
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(2, 4, queries, 8, generator=generator)
    key, value = torch.randn(2, 2, kv_heads, 6, 8, generator=generator)
    mask = torch.rand(2, 1, queries, 6, generator=generator) < 0.7 if "mask" in extra else None
    mask = None if mask is None else mask | (torch.arange(6) == 0)
    bias = torch.randn(4, queries, 6, generator=generator) if "bias" in extra else None
    kernel = attend(query, key, value, mask, 0.3, bias=bias, future=future)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    torch.testing.assert_close(attend(query, key, value, mask, 0.3, bias=bias, future=future), kernel, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("compiling", [True, False])
def test_dropout_drops_weights_of_attention(compiling, monkeypatch):
    """Values that are 1 everywhere bring 1 when nothing is dropped, and 1 on average when half of the weights are."""
    torch.manual_seed(0)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: compiling)
    query, key = torch.randn(2, 1, 4, 64, 8)
    ones = torch.ones(1, 4, 64, 8)
    torch.testing.assert_close(attend(query, key, ones, future=True), torch.ones(1, 64, 4, 8))
    dropped = attend(query, key, ones, future=True, dropout=0.5)
    assert dropped.std() > 0.05 and dropped.mean().item() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("choices", [{}, {"score": "additive"}, {"score": "multiplicative"}, {"positions": "relative"}], ids=str)
def test_gradients_of_what_is_written_by_hand(choices):
    stack = small(kind="encoder", **choices).double()
    reading, x = stack.reading(0, 4, None, None), torch.randn(1, 4, 16, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: stack.blocks[0].attention(x, reading, 0), x)


def test_gradients_of_the_sum_written_out():
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(1, 2, 4, 3, dtype=torch.float64, generator=generator, requires_grad=True) for _ in range(3)]
    bias = torch.randn(2, 4, 4, dtype=torch.float64, generator=generator, requires_grad=True)
    mask = torch.ones(4, 4, dtype=torch.bool).tril()
    assert torch.autograd.gradcheck(lambda q, k, v, b: softmax_attention(q, k, v, mask, 0.5, b), (*tensors, bias))


@pytest.mark.parametrize("positions", ["relative", "alibi"])
def test_a_bias_learns_through_the_kernel_as_through_the_sum(positions):
    """The fused kernel takes the bias as a mask; its gradient must come back from there."""
    stack = small(kind="encoder", positions=positions)
    stack.hidden(texts()).square().sum().backward()
    kernel = stack.embedding.weight.grad.clone()
    buckets = stack.positions.embedding.weight.grad.clone() if positions == "relative" else None
    stack.zero_grad()
    stack.double().hidden(texts()).square().sum().backward()
    torch.testing.assert_close(stack.embedding.weight.grad.float(), kernel, atol=1e-2, rtol=1e-3)
    if buckets is not None:
        assert buckets.abs().sum() > 0
        torch.testing.assert_close(stack.positions.embedding.weight.grad.float(), buckets, atol=1e-2, rtol=1e-3)


def test_multiplicative_begins_as_the_dot_product():
    torch.manual_seed(0)
    networks = [build(TransformerConfig(**SMALL, score=score_name)) for score_name in ("dot", "multiplicative")]
    scramble(networks[0])
    networks[1].load_state_dict(networks[0].state_dict(), strict=False)
    torch.testing.assert_close(networks[0](texts()), networks[1](texts()), atol=1e-5, rtol=1e-5)
