"""Attention without the matrix of all pairs: it comes as close to the exact one as it has features."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from models.attention.kernel import attend
from models.attention.recorder import recording
from models.scratch.cheaper import Linformer, Performer, error, random_directions
from models.scratch.transformer import TransformerConfig
from tests.models.ours import small, texts

N, HEADS, SIZE = 24, 2, 8


def make(kind: type, features: int, temperature: float = 1.0, context: int = N) -> nn.Module:
    return kind(TransformerConfig(d_model=HEADS * SIZE, heads=HEADS, features=features, temperature=temperature, context=context))


def tensors(seed: int = 0, scale: float = 1.0) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    query, key, value = torch.randn(3, 2, HEADS, N, SIZE, generator=generator)
    return scale * query, scale * key, value


@pytest.mark.parametrize("temperature", [1.0, 2.0])
@pytest.mark.parametrize("future", [True, False])
def test_a_performer_comes_close_as_its_features_grow(future, temperature):
    query, key, value = tensors(scale=0.5)
    exact = attend(query, key, value, scale=SIZE**-0.5 / temperature, future=future)
    off = [error(make(Performer, m, temperature)(query, key, value, None, future), exact) for m in (16, 256, 4096)]
    assert off == sorted(off, reverse=True)
    assert off[-1] < 0.05
    assert (off[0] / off[-1]) ** 0.5 == pytest.approx(4, rel=0.5), "with 16 times the features, about a fourth of the error"


def test_a_performer_of_given_features_is_the_sum_over_its_definition():
    """φ(q)·φ(k) written out for each pair, with the normaliser that it has."""
    performer, (query, key, value) = make(Performer, 12), tensors()
    output, w = performer(query, key, value, None, False), performer.directions.double()
    for head in range(HEADS):
        q, k, v = (tensor[1, head].double() for tensor in (query, key, value))
        for i in (0, 1, 7, N - 1):
            weights = torch.zeros(i + 1, dtype=torch.float64)
            for j in range(i + 1):
                for direction in w:
                    a, b = q[i] / SIZE**0.25, k[j] / SIZE**0.25
                    weights[j] += torch.exp(direction @ a - a @ a / 2) * torch.exp(direction @ b - b @ b / 2) / len(w)
            torch.testing.assert_close(output[1, i, head].double(), weights @ v[: i + 1] / weights.sum(), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("scale", [1e-3, 8.0, 60.0])
def test_a_performer_survives_small_and_large_numbers(scale):
    for future in (True, False):
        assert make(Performer, 16)(*tensors(scale=scale), None, future).isfinite().all()


def test_random_directions_are_orthogonal_in_blocks_and_as_long_as_normal_vectors():
    directions = random_directions(3 * SIZE, SIZE)
    block = nn.functional.normalize(directions[:SIZE])
    torch.testing.assert_close(block @ block.T, torch.eye(SIZE), atol=1e-5, rtol=0)
    many = random_directions(20_000, SIZE)
    assert many.square().sum(-1).mean().item() == pytest.approx(SIZE, rel=0.02)
    assert many.mean(0).abs().max() < 0.03, "no direction is preferred"


def test_a_linformer_comes_close_as_its_slots_grow_and_is_exact_at_one_a_position():
    query, key, value = tensors()
    smooth = torch.linspace(0, 3, N)[:, None].sin() + 0.1 * key  # neighbours are alike, as stretches of a text are
    exact = attend(query, smooth, value.cumsum(2) / N, future=True)
    off = [error(make(Linformer, slots)(query, smooth, value.cumsum(2) / N, None, True), exact) for slots in (2, 4, 8, 12, N)]
    assert off == sorted(off, reverse=True) and off[0] > 0.03
    assert off[-1] < 1e-6


def test_a_linformer_is_softmax_over_its_slots():
    """softmax(q (E K)ᵀ / √d) (E V), E as it is where each row adds up to 1."""
    linformer, (query, key, value) = make(Linformer, 5), tensors()
    mixing = torch.rand(5, N, generator=torch.Generator().manual_seed(3))
    mixing /= mixing.sum(-1, keepdim=True)
    linformer.mixing.data = mixing
    output = linformer(query, key, value, None, True)
    for head in range(HEADS):
        slots = (query[0, head] @ (mixing @ key[0, head]).T / SIZE**0.5).softmax(-1)
        torch.testing.assert_close(output[0, :, head], slots @ (mixing @ value[0, head]), atol=1e-5, rtol=1e-5)


def test_a_text_that_is_shorter_than_the_context_leaves_slots_out():
    """Six tokens in a context of 24 with 24 slots: six slots of one token each, so it is exact."""
    query, key, value = (tensor[:, :, :6] for tensor in tensors())
    output = make(Linformer, N)(query, key, value, None, True)
    torch.testing.assert_close(output, attend(query, key, value, future=True), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("positive", [True, False])
def test_the_rows_of_a_linformer_add_up_to_one_unless_it_learned_to_take_away(positive):
    linformer = make(Linformer, 5)
    nn.init.uniform_(linformer.mixing, 0 if positive else -1, 1)
    with recording() as record:
        linformer(*tensors(), None, True)
    off = (record.calls[0].weights().sum(-1) - 1).abs().max()
    assert off < 1e-5 if positive else off > 0.1


@pytest.mark.parametrize("computed", ["performer", "linformer"])
def test_looking_changes_nothing(computed):
    network = small(kind="encoder", computed=computed)
    plain = network(texts())
    with recording():
        looked_at = network(texts())
    torch.testing.assert_close(plain, looked_at, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("future", [True, False])
@pytest.mark.parametrize("kind", [Performer, Linformer])
def test_gradients_of_what_is_written_by_hand(kind, future):
    if kind is Linformer and not future:
        pytest.skip("a linformer sees the future")
    cheap, generator = make(kind, 4, context=5).double(), torch.Generator().manual_seed(0)
    arguments = [torch.randn(1, HEADS, 5, SIZE, dtype=torch.float64, generator=generator, requires_grad=True) for _ in range(3)]
    assert torch.autograd.gradcheck(lambda q, k, v: cheap(q, k, v, None, future), arguments)
