"""Attention flow: the maximum flow from each input token to a position, with attention as the capacity of the edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from analysis.attention_rollout import check_residual
from analysis.routes import Paths, matrices, paths
from models.trace import Attention, Trace

Report = Callable[[float, str], None]
UNIT = 10**9  # a capacity of 1 in the whole numbers that scipy's solver takes; what arrives is never more than 1


def flow(
    of: Attention | Trace, query: int = -1, fusion: str = "mean", residual: float = 0.5, report: Report | None = None
) -> np.ndarray:
    """Return the maximum flow from each input token to a position at the top, scaled to sum to 1: float64 [key].

    Each state of a token is a node; the way from state k of a layer to state q of the next one carries at most (1 - residual) ·
    P[q, k], the heads fused as in rollout, and residual more where k = q. For an encoder-decoder the tokens are the source's and
    then the target's, and cross-attention is one more layer. After some layers nearly every token alone can saturate the
    position, so the shares lie close together. report(share done, words) is called between the tokens.
    Errors: ValueError for another fusion or share, or a position that is not there.
    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
    """
    ways = paths(of)
    flows = maximum_flows(ways, matrices(ways, fusion), query, residual, report)
    return flows / (flows.sum() or 1.0)


def maximum_flows(
    ways: Paths, weights: Sequence[np.ndarray], query: int, residual: float = 0.5, report: Report | None = None
) -> np.ndarray:
    """Return the unscaled flows of `flow`: float64 [token], each at most 1. weights: one matrix a step (see `matrices`)."""
    from scipy.sparse.csgraph import maximum_flow  # here, because a first page does without it

    check_residual(residual)
    graph, inputs, sink = _graph(ways, weights, ways.place(query), residual)
    flows = np.zeros(len(ways.tokens))
    for token, node in enumerate(inputs):
        if report:
            report(token / len(inputs), f"Flow from token {token + 1} of {len(inputs)}")
        if node >= 0:
            flows[token] = 1.0 if node == sink else maximum_flow(graph, node, sink).flow_value / UNIT
    return flows


def pipes(ways: Paths, weights: Sequence[np.ndarray], query: int) -> tuple[int, int]:
    """Return the size of the graph of `flow`: tokens with any flow, and edges. Time grows about as their product."""
    graph, inputs, _ = _graph(ways, weights, ways.place(query), 0.5)
    return int((inputs >= 0).sum()), graph.nnz


def nearest(ways: Paths, weights: Sequence[np.ndarray], query: int, most: int) -> np.ndarray:
    """Return at most `most` tokens of each text to calculate with, the position among them: int [token], in order.

    In the position's own text these are the tokens before it if attention is causal, else those around it; in the source, those
    around the token that the position looks at most in the last step.
    """
    place = ways.place(query)
    places: list[int] = []
    if ways.start:
        best = int(weights[-1][place - ways.start].argmax())
        places += _around(best, 0, ways.start, most)
    first = next(matrix for step, matrix in zip(ways.steps, weights, strict=True) if step.queries.start == ways.start)
    ahead = bool(np.triu(first, 1).any())
    places += _around(place, ways.start, len(ways.tokens), most) if ahead else range(max(ways.start, place + 1 - most), place + 1)
    return np.array(places)


def restrict(ways: Paths, weights: Sequence[np.ndarray], places: np.ndarray) -> tuple[Paths, list[np.ndarray]]:
    """Return the paths between only some of the tokens (int [token], in order); rows of a matrix are scaled to sum to 1 again."""
    start = int((places < ways.start).sum())
    source, target = slice(0, start or len(places)), slice(start, len(places))
    slices = {0: source, ways.start: target}
    steps, parts = [], []
    for step, matrix in zip(ways.steps, weights, strict=True):
        rows, columns = (places[slices[side.start]] - side.start for side in (step.queries, step.keys))
        part = matrix[np.ix_(rows, columns)]
        total = part.sum(-1, keepdims=True)
        parts.append(np.divide(part, total, out=np.zeros_like(part), where=total > 0))
        steps.append(replace(step, queries=slices[step.queries.start], keys=slices[step.keys.start]))
    return replace(ways, tokens=[ways.tokens[i] for i in places], start=start, steps=tuple(steps)), parts


def _around(middle: int, low: int, high: int, most: int) -> range:
    begin = max(low, min(middle - most // 2, high - most))
    return range(begin, min(high, begin + most))


def _graph(ways: Paths, weights: Sequence[np.ndarray], place: int, residual: float) -> tuple[Any, np.ndarray, int]:
    """Return the edges that lead to a position, as a matrix of whole numbers; the node of each input (-1: no way up); the
    sink."""
    from scipy.sparse import coo_array

    nodes = np.full(len(ways.tokens), -1)  # of each token's state that is still needed, from the top down
    nodes[place], count = 0, 1
    froms, tos, widths = [], [], []
    for step, matrix in zip(reversed(ways.steps), reversed(weights), strict=True):
        rows = np.flatnonzero(nodes[step.queries] >= 0)
        if not len(rows):
            continue
        above = nodes[step.queries][rows]
        flows = (1 - residual) * matrix[rows]  # [needed query, key]
        stays = 1 - flows.sum(-1)
        nodes = nodes.copy()
        nodes[step.queries] = -1
        is_needed = np.zeros(len(nodes), dtype=bool)
        is_needed[step.keys] |= (flows > 0).any(0)
        is_needed[step.queries.start + rows[stays > 0]] = True
        fresh = is_needed & (nodes < 0)
        nodes[fresh] = np.arange(count, count + fresh.sum())
        count += int(fresh.sum())
        q, k = np.nonzero(flows)
        froms += [nodes[step.keys][k], nodes[step.queries.start + rows[stays > 0]]]
        tos += [above[q], above[stays > 0]]
        widths += [flows[q, k], stays[stays > 0]]
    capacities = np.rint(UNIT * np.concatenate(widths)).astype(np.int32)
    edges = coo_array((capacities, (np.concatenate(froms), np.concatenate(tos))), shape=(count, count))
    return edges.tocsr(), nodes, 0  # sums double edges
