from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from analysis import rollout
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
    found = rollout(attention(weights), fusion, residual)
    assert found.shape == (len(weights), *weights.shape[2:])
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-6)


@given(st.integers(1, 5), st.integers(1, 6), fusions, shares)
def test_identity_attention_gives_identity_rollout(layers, count, fusion, residual):
    found = rollout(attention(np.broadcast_to(np.eye(count), (layers, 2, count, count))), fusion, residual)
    np.testing.assert_allclose(found, np.broadcast_to(np.eye(count), found.shape), atol=1e-12)


@given(weights)
def test_the_residual_alone_leaves_everything_where_it_is(weights):
    found = rollout(attention(weights), residual=1.0)
    np.testing.assert_allclose(found, np.broadcast_to(np.eye(weights.shape[-1]), found.shape), atol=1e-12)


@given(weights)
def test_without_it_the_blocks_are_multiplied(weights):
    found = rollout(attention(weights), residual=0.0)
    expected = np.linalg.multi_dot([*weights.mean(1)[::-1], np.eye(weights.shape[-1])])
    np.testing.assert_allclose(found[-1], expected, atol=1e-5)


@given(weights, fusions, st.floats(0, 0.9))
def test_a_causal_model_stays_causal(weights, fusion, residual):
    causal = np.tril(weights)
    found = rollout(attention(causal / causal.sum(-1, keepdims=True)), fusion, residual)
    assert np.triu(found[-1], 1).max(initial=0) == 0


def test_bad_choices_are_sentences():
    tokens = [Token(i, str(i), i, i + 1) for i in range(3)]
    with pytest.raises(ValueError, match="fusion must be one of"):
        rollout(attention(np.ones((1, 1, 1, 1))), "median")
    with pytest.raises(ValueError, match="from 0 to 1"):
        rollout(attention(np.ones((1, 1, 1, 1))), residual=1.5)
    with pytest.raises(ValueError, match="self-attention"):
        rollout(Attention.from_arrays(np.full((1, 1, 2, 3), 1 / 3), tokens[:2], tokens))
