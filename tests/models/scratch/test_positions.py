"""Position schemes: each against its definition, and its promised properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from models.scratch.config import POSITIONS
from models.scratch.positions import alibi_slopes, distances, relative_buckets, rotary_turns, rotate, sinusoids
from tests.models.ours import small, texts


@pytest.mark.parametrize("d_model", [16, 7])
def test_sinusoids_are_as_published(d_model):
    waves = sinusoids(20, d_model)
    for position in range(20):
        for i in range(d_model):
            angle = position / 10_000 ** (2 * (i // 2) / d_model)
            assert waves[position, i].item() == pytest.approx(math.cos(angle) if i % 2 else math.sin(angle), abs=1e-5)


def test_rotary_turns_pairs_as_complex_numbers_are_multiplied():
    x = torch.randn(1, 1, 9, 8, dtype=torch.float64)
    turned_pairs = rotate(x, rotary_turns(8, 9).double())[0, 0].numpy()
    pairs = x[0, 0, :, :4].numpy() + 1j * x[0, 0, :, 4:].numpy()
    expected = pairs * np.exp(1j * np.arange(9)[:, None] * 10_000.0 ** (-np.arange(4) / 4))
    np.testing.assert_allclose(turned_pairs, np.concatenate([expected.real, expected.imag], -1), atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**31))
def test_rotary_keeps_lengths(pairs, seed):
    x = torch.randn(2, 3, 5, 2 * pairs, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(rotate(x, rotary_turns(2 * pairs, 5)).norm(dim=-1), x.norm(dim=-1))


def test_rotary_refuses_an_odd_number_of_dimensions():
    with pytest.raises(ValueError, match="must be even; it is 7"):
        rotary_turns(7, 10)


@pytest.mark.parametrize("heads", [1, 2, 3, 6, 8, 12, 20])
def test_alibi_takes_off_what_bloom_does(heads):
    """The scores of one query, up to a number that is the same for every key and so cancels."""
    theirs = build_alibi_tensor(torch.ones(1, 10), heads, torch.float32)[:, 0]  # [heads, key]
    ours = -alibi_slopes(heads)[:, None] * distances(1, 10).abs()
    torch.testing.assert_close(ours - ours[:, :1], theirs - theirs[:, :1])


@pytest.mark.parametrize("causal", [True, False])
def test_relative_buckets_are_those_of_t5(causal):
    apart = distances(300, 300)
    theirs = T5Attention._relative_position_bucket(apart, bidirectional=not causal, num_buckets=32, max_distance=128)
    torch.testing.assert_close(relative_buckets(apart, causal, 32, 128), theirs)


@pytest.mark.parametrize("kind", ["decoder", "encoder"])
@pytest.mark.parametrize("positions", ["alibi", "relative"])
def test_a_bias_is_added_to_the_scores_of_the_last_queries(positions, kind):
    scheme = small(kind=kind, positions=positions).positions
    whole = scheme.bias(9, 9)
    torch.testing.assert_close(scheme.bias(3, 9), whole[:, 6:])
    for distance in range(-8, 9):  # it knows the distance alone
        along = whole.diagonal(distance, dim1=1, dim2=2)
        torch.testing.assert_close(along, along[:, :1].expand_as(along))


@pytest.mark.parametrize("kind", ["encoder", "decoder", "encoder-decoder"])
def test_without_positions_an_encoder_knows_no_order_and_with_them_every_kind_does(kind):
    swapped = [1, 0, *range(2, 12)]
    for positions in POSITIONS:
        network = small(kind=kind, positions=positions)
        read = network.encode if kind == "encoder-decoder" else network.hidden
        same = torch.allclose(read(texts())[:, swapped], read(texts()[:, swapped]), atol=1e-5)
        assert same == (positions == "none" and kind != "decoder"), positions


@pytest.mark.parametrize("positions", ["rotary", "alibi", "relative", "none"])
def test_schemes_of_distance_do_not_care_where_the_text_begins(positions):
    """Two equal stretches, a window apart from the text before them, get the same attention."""
    network = small(positions=positions, pattern="window", window=3, layers=1)
    stretch = texts(1, 8)
    hidden = network.hidden(torch.cat([stretch, stretch], 1))
    torch.testing.assert_close(hidden[:, 2:8], hidden[:, 10:16], atol=1e-5, rtol=1e-5)


def test_gradients_of_what_is_turned_by_hand():
    x = torch.randn(1, 2, 3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: rotate(x, rotary_turns(4, 3).double()), x)
