from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import paths, rollout, shares, streams
from analysis.routes import matrices
from models import Attention, Token, Trace
from tests.analysis.test_attention_rollout import attention, weights


def translator(source: int = 4, target: int = 3, layers: int = 2, seed: int = 0) -> Trace:
    """A trace of an encoder-decoder, its attention random."""
    random = np.random.default_rng(seed)

    def rows(queries: int, keys: int, causal: bool = False) -> np.ndarray:
        raw = random.random((layers, 2, queries, keys)) + 0.05
        raw = np.tril(raw) if causal else raw
        return raw / raw.sum(-1, keepdims=True)

    texts = [[Token(i, f"{name}{i}", i, i + 1) for i in range(count)] for name, count in (("s", source), ("t", target))]
    attention_of = {
        "encoder": Attention.from_arrays(rows(source, source), texts[0], texts[0]),
        "decoder": Attention.from_arrays(rows(target, target, causal=True), texts[1], texts[1]),
        "cross": Attention.from_arrays(rows(target, source), texts[1], texts[0]),
    }
    return Trace("", texts[0], attention_of, {}, target=texts[1])


@given(weights, st.floats(0, 1), st.integers(0, 5))
def test_shares_of_one_text_are_a_row_of_rollout(weights, residual, query):
    whole = attention(weights)
    query %= len(whole.queries)
    ways = paths(whole)
    rows = shares(ways, matrices(ways), query, residual)
    np.testing.assert_allclose(rows[0], rollout(whole, residual=residual)[-1][query], atol=1e-6)
    np.testing.assert_allclose(rows.sum(-1), 1, atol=1e-9)
    assert rows[-1].argmax() == query and rows[-1].max() == 1


def test_an_encoder_decoder_is_multiplied_up_over_both_texts():
    """Reference: each step as a matrix over source and target together, an identity where a text takes no part."""
    trace = translator()
    product = np.eye(7)
    for layer in trace.attention["encoder"][0], trace.attention["encoder"][1]:
        step = np.eye(7)
        step[:4, :4] = 0.5 * np.eye(4) + 0.5 * layer.mean(0)
        product = step @ product
    for layer in range(2):
        step = np.eye(7)
        step[4:, 4:] = 0.5 * np.eye(3) + 0.5 * trace.attention["decoder"][layer].mean(0)
        product = step @ product
        step = np.eye(7)
        step[4:, 4:] = 0.5 * np.eye(3)
        step[4:, :4] = 0.5 * trace.attention["cross"][layer].mean(0)
        product = step @ product
    ways = paths(trace)
    assert [step.name for step in ways.steps][2:] == ["decoder L0", "cross L0", "decoder L1", "cross L1"]
    for query in range(3):
        np.testing.assert_allclose(shares(ways, matrices(ways), query)[0], product[4 + query], atol=1e-6)


@pytest.mark.parametrize("query", [0, 1, 2])
def test_nothing_is_lost_between_streams(query):
    ways = paths(translator())
    weights_of = matrices(ways)
    flows, left_out = streams(ways, weights_of, query)
    comes, goes = {}, {}
    for stream in flows:
        comes[stream.to_column, stream.to_token] = comes.get((stream.to_column, stream.to_token), 0) + stream.share
        goes[stream.from_column, stream.from_token] = goes.get((stream.from_column, stream.from_token), 0) + stream.share
    sink = (len(ways.steps), 4 + query)
    assert left_out == pytest.approx(0, abs=1e-9) and comes[sink] == pytest.approx(1)
    for state in comes.keys() & goes.keys():
        assert comes[state] == pytest.approx(goes[state], abs=1e-9)
    inputs = np.zeros(7)
    for column, token in goes.keys() - comes.keys():
        inputs[token] = goes[column, token]
    np.testing.assert_allclose(inputs, shares(ways, weights_of, query)[0], atol=1e-9)


def test_small_streams_can_be_left_out_and_are_counted():
    ways = paths(translator())
    flows, left_out = streams(ways, matrices(ways), -1, least=0.1)
    assert flows and all(stream.share >= 0.1 for stream in flows)
    columns = {stream.to_column for stream in flows}
    share_of = {column: sum(stream.share for stream in flows if stream.to_column == column) for column in columns}
    assert 0 < left_out < 1 and share_of[len(ways.steps)] >= 1 - left_out - 1e-9


def test_a_position_that_is_not_there_is_a_sentence():
    ways = paths(translator())
    with pytest.raises(ValueError, match="There are 3 positions"):
        shares(ways, matrices(ways), 3)
    with pytest.raises(ValueError, match="different texts"):
        paths(translator().attention["cross"])
