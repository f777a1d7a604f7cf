from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import flow, paths
from analysis.attention_flow import maximum_flows, nearest, pipes, restrict
from analysis.routes import matrices
from models import Trace
from tests.analysis.test_attention_rollout import attention, fusions, weights
from tests.analysis.test_routes import translator


def causal(weights: np.ndarray) -> np.ndarray:
    lower = np.tril(weights)
    return lower / lower.sum(-1, keepdims=True)


def by_networkx(layers: list[np.ndarray], query: int) -> np.ndarray:
    """Abnar and Zuidema 2020, section 3: nodes (layer, token), capacities 0.5 W + 0.5 I, from each input to a state on top."""
    graph = nx.DiGraph()
    for layer, matrix in enumerate(layers):
        for q in range(len(matrix)):
            for k in range(len(matrix)):
                capacity = 0.5 * matrix[q, k] + 0.5 * (q == k)
                if capacity > 0:
                    graph.add_edge((layer, k), (layer + 1, q), capacity=capacity)
    sink = (len(layers), query)
    flows = np.array([nx.maximum_flow_value(graph, (0, k), sink) for k in range(len(layers[0]))])
    return flows / flows.sum()


@settings(max_examples=25, deadline=None)
@given(weights, fusions, st.booleans(), st.integers(0, 5))
def test_it_is_networkx_on_the_same_graph(weights, fusion, ahead, query):
    text_attention = attention(weights if ahead else causal(weights))
    query %= len(text_attention.queries)
    ways = paths(text_attention)
    expected = by_networkx(matrices(ways, fusion), query)
    np.testing.assert_allclose(flow(text_attention, query, fusion), expected, atol=1e-4)


def test_an_encoder_decoder_is_networkx_on_both_texts():
    trace = translator()
    graph = nx.DiGraph()

    def layer(name: str, below: tuple, above: tuple, matrix: np.ndarray) -> None:
        for q, row in enumerate(matrix):
            for k, weight in enumerate(row):
                graph.add_edge((*below, k), (*above, q), capacity=float(weight))

    half = 0.5 * np.eye(4)
    for i in range(2):
        layer("encoder", ("s", i), ("s", i + 1), half + 0.5 * trace.attention["encoder"][i].mean(0))
    half = 0.5 * np.eye(3)
    for i in range(2):
        layer("decoder", ("t", 2 * i), ("t", 2 * i + 1), half + 0.5 * trace.attention["decoder"][i].mean(0))
        layer("stays", ("t", 2 * i + 1), ("t", 2 * i + 2), half)
        layer("cross", ("s", 2), ("t", 2 * i + 2), 0.5 * trace.attention["cross"][i].mean(0))
    inputs = [("s", 0, k) for k in range(4)] + [("t", 0, k) for k in range(3)]
    expected = np.array([nx.maximum_flow_value(graph, node, ("t", 4, 2)) for node in inputs])
    np.testing.assert_allclose(flow(trace), expected / expected.sum(), atol=1e-4)


@given(st.integers(1, 4), st.integers(1, 6), st.integers(0, 5))
def test_identity_attention_lets_only_the_token_itself_through(layers, count, query):
    query %= count
    flows = flow(attention(np.broadcast_to(np.eye(count), (layers, 2, count, count))), query)
    np.testing.assert_allclose(flows, np.eye(count)[query], atol=1e-9)


@given(weights, st.integers(0, 5))
def test_nothing_comes_from_the_future(weights, query):
    causal_attention = attention(causal(weights))
    query %= len(causal_attention.queries)
    flows = flow(causal_attention, query)
    assert flows.sum() == pytest.approx(1) and flows[query + 1 :].max(initial=0) == 0


def test_no_more_arrives_than_the_position_takes():
    text_attention = attention(np.random.default_rng(0).dirichlet(np.ones(9), size=(4, 3, 9)))
    ways = paths(text_attention)
    assert maximum_flows(ways, matrices(ways), 4).max() <= 1 + 1e-6


def test_between_all_tokens_nothing_is_cut_off():
    for of in (attention(causal(np.random.default_rng(1).random((3, 2, 6, 6)) + 0.1)), translator()):
        ways = paths(of)
        steps = matrices(ways)
        places = nearest(ways, steps, -1, 10)
        fewer, smaller = restrict(ways, steps, places)
        np.testing.assert_array_equal(places, np.arange(len(ways.tokens)))
        np.testing.assert_allclose(maximum_flows(fewer, smaller, -1), maximum_flows(ways, steps, -1), atol=1e-6)


def test_fewer_tokens_are_those_around_the_position_and_share_all():
    of = attention(causal(np.random.default_rng(1).random((3, 2, 12, 12)) + 0.1))
    ways = paths(of)
    steps = matrices(ways)
    np.testing.assert_array_equal(nearest(ways, steps, 7, 4), [4, 5, 6, 7])
    fewer, smaller = restrict(ways, steps, np.array([4, 5, 6, 7]))
    assert [token.text for token in fewer.tokens] == ["4", "5", "6", "7"]
    assert all(np.allclose(matrix.sum(-1), 1) for matrix in smaller)
    assert pipes(fewer, smaller, 3)[0] == 4 and pipes(ways, steps, 7)[0] == 8
    places = nearest(paths(of), matrices(paths(of)), 0, 4)
    assert 0 in places


def test_a_window_on_an_encoder_decoder_holds_the_position_and_what_it_looks_at():
    trace: Trace = translator(source=9, target=6)
    ways = paths(trace)
    steps = matrices(ways)
    places = nearest(ways, steps, 3, 4)
    assert 9 + 3 in places and int(steps[-1][3].argmax()) in places and len(places) == 8
    fewer, smaller = restrict(ways, steps, places)
    assert fewer.start == 4 and [step.name for step in fewer.steps] == [step.name for step in ways.steps]
    assert {matrix.shape for matrix in smaller} == {(4, 4)}


def test_bad_choices_are_sentences():
    single = attention(np.ones((1, 1, 1, 1)))
    with pytest.raises(ValueError, match="fusion must be one of"):
        flow(single, fusion="median")
    with pytest.raises(ValueError, match="There are 1 positions"):
        flow(single, 1)
    with pytest.raises(ValueError, match="residual must be"):
        flow(single, residual=-0.1)


def test_it_says_how_far_it_is_and_can_be_stopped():
    class Enough(Exception):
        pass

    reports = []

    def report(share: float, words: str) -> None:
        reports.append(share)
        if len(reports) == 3:
            raise Enough

    with pytest.raises(Enough):
        flow(attention(np.random.default_rng(0).dirichlet(np.ones(8), size=(2, 2, 8))), report=report)
    assert reports == sorted(reports) and len(reports) == 3
