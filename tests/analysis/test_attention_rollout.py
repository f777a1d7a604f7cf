from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from analysis import rollout
from analysis.attention_rollout import fuse_heads
from models import Attention, Token


def attention(weights: np.ndarray) -> Attention:
    tokens = [Token(i, str(i), i, i + 1) for i in range(weights.shape[-1])]
    return Attention.from_arrays(weights, tokens, tokens)


weights = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 6)).flatmap(
    lambda shape: hnp.arrays(np.float64, (*shape, shape[-1]), elements=st.floats(0.01, 1)).map(
        lambda raw: raw / raw.sum(-1, keepdims=True)
    )
)
fusions = st.sampled_from(["mean", "max", "min"])
shares = st.floats(0, 1)


@given(weights, fusions, shares)
def test_every_row_is_a_distribution(weights, fusion, residual):
    result = rollout(attention(weights), fusion, residual)
    assert result.shape == (len(weights), *weights.shape[2:])
    assert result.min() >= 0
    np.testing.assert_allclose(result.sum(-1), 1, atol=1e-6)


@given(st.integers(1, 5), st.integers(1, 6), fusions, shares)
def test_identity_attention_gives_identity_rollout(layers, count, fusion, residual):
    result = rollout(attention(np.broadcast_to(np.eye(count), (layers, 2, count, count))), fusion, residual)
    np.testing.assert_allclose(result, np.broadcast_to(np.eye(count), result.shape), atol=1e-12)


@given(weights)
def test_the_residual_alone_leaves_everything_where_it_is(weights):
    result = rollout(attention(weights), residual=1.0)
    np.testing.assert_allclose(result, np.broadcast_to(np.eye(weights.shape[-1]), result.shape), atol=1e-12)


@given(weights)
def test_without_it_the_blocks_are_multiplied(weights):
    result = rollout(attention(weights), residual=0.0)
    expected = np.linalg.multi_dot([*weights.mean(1)[::-1], np.eye(weights.shape[-1])])
    np.testing.assert_allclose(result[-1], expected, atol=1e-5)


@given(weights, fusions, st.floats(0, 0.9))
def test_a_causal_model_stays_causal(weights, fusion, residual):
    causal = np.tril(weights)
    result = rollout(attention(causal / causal.sum(-1, keepdims=True)), fusion, residual)
    assert np.triu(result[-1], 1).max(initial=0) == 0


def test_three_tokens_and_two_layers_by_hand():
    """Abnar and Zuidema 2020, eq. 1: A = 0.5 W + 0.5 I with W the mean of the heads, and the rollout A₁ A₀."""
    first = [[[1, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0], [0.5, 0, 0.5]]]
    second = [[[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]], [[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]]]
    # W₀ = [[1, 0, 0], [.5, .5, 0], [.25, .5, .25]], so A₀ = [[1, 0, 0], [.25, .75, 0], [.125, .25, .625]]
    # W₁ = [[1, 0, 0], [.5, .5, 0], [.25, .25, .5]], so A₁ = [[1, 0, 0], [.25, .75, 0], [.125, .125, .75]]
    # third row of A₁ A₀: .125 · 1 + .125 · .25 + .75 · .125 = .25; .125 · .75 + .75 · .25 = .28125; .75 · .625 = .46875
    result = rollout(attention(np.array([first, second])))
    np.testing.assert_allclose(result[0], [[1, 0, 0], [0.25, 0.75, 0], [0.125, 0.25, 0.625]], atol=1e-9)
    np.testing.assert_allclose(result[1], [[1, 0, 0], [0.4375, 0.5625, 0], [0.25, 0.28125, 0.46875]], atol=1e-9)


@given(weights, fusions, shares)
def test_it_is_what_a_plain_loop_computes(weights, fusion, residual):
    product = np.eye(weights.shape[-1])
    for layer in weights.astype(np.float32).astype(np.float64):
        matrix = np.zeros_like(product)
        for q in range(len(matrix)):
            row = [
                {"mean": sum(head_weights) / len(head_weights), "max": max(head_weights), "min": min(head_weights)}[fusion]
                for head_weights in layer[:, q].T
            ]
            for k in range(len(matrix)):
                matrix[q, k] = residual * (q == k) + (1 - residual) * row[k] / sum(row)
        product = matrix @ product
    np.testing.assert_allclose(rollout(attention(weights), fusion, residual)[-1], product, atol=1e-6)


@pytest.mark.parametrize("ahead", [False, True])
def test_a_long_text_is_multiplied_up_as_a_short_one_is(ahead):
    raw = np.random.default_rng(0).random((3, 2, 201, 201)).astype(np.float32)
    raw = raw if ahead else np.tril(raw)
    weights = raw / raw.sum(-1, keepdims=True)
    expected = np.linalg.multi_dot([0.5 * layer.mean(0, dtype=np.float64) + 0.5 * np.eye(201) for layer in weights[::-1]])
    np.testing.assert_allclose(rollout(attention(weights))[-1], expected, atol=1e-6)


@given(weights, fusions, st.floats(0, 0.99))
def test_discarding_keeps_the_largest_weights_of_each_row(weights, fusion, discard):
    full, largest = fuse_heads(weights[0], fusion), fuse_heads(weights[0], fusion, discard)
    np.testing.assert_allclose(largest.sum(-1), 1, atol=1e-9)
    for before, after in zip(full, largest, strict=True):
        assert np.count_nonzero(after) == max(1, len(before) - int(np.floor(discard * len(before))))
        assert before[after > 0].min() >= before[after == 0].max(initial=0)
        np.testing.assert_allclose(after[after > 0], before[after > 0] / before[after > 0].sum(), atol=1e-9)


@given(weights)
def test_what_a_causal_query_cannot_see_is_not_counted_as_discarded(weights):
    causal = np.tril(weights[0])
    matrix = fuse_heads(causal / causal.sum(-1, keepdims=True), discard=0.5)
    assert [np.count_nonzero(row) for row in matrix] == [max(1, seen - seen // 2) for seen in range(1, len(matrix) + 1)]


def test_bad_choices_are_sentences():
    tokens = [Token(i, str(i), i, i + 1) for i in range(3)]
    with pytest.raises(ValueError, match="fusion must be one of"):
        rollout(attention(np.ones((1, 1, 1, 1))), "median")
    with pytest.raises(ValueError, match="from 0 to 1"):
        rollout(attention(np.ones((1, 1, 1, 1))), residual=1.5)
    with pytest.raises(ValueError, match="discard must be"):
        rollout(attention(np.ones((1, 1, 1, 1))), discard=1.0)
    with pytest.raises(ValueError, match="self-attention"):
        rollout(Attention.from_arrays(np.full((1, 1, 2, 3), 1 / 3), tokens[:2], tokens))
