"""Similarity of heads by where they look in one text, and a map on which similar heads are close together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.statistics import Report, choosing, entropy_of, silent
from models.trace import Attention

CELLS = 2**16  # weights of each head compared at a time
AT_MOST = 2**31  # cells compared in all, some ten seconds of work; beyond, queries are taken at even steps


def compared_queries(attention: Attention) -> list[int]:
    """Return the queries at which `head_divergence` compares heads: all that have a choice, or so many evenly spaced ones that it
    takes a few seconds."""
    count = attention.layers * attention.heads
    fit = max(1, AT_MOST // max(1, count * count * len(attention.keys) // 2))
    queries = range(len(attention.queries))[choosing(attention)]
    if len(queries) <= fit:
        return list(queries)
    return np.linspace(queries[0], queries[-1], fit).round().astype(int).tolist() if fit > 1 else [queries[-1]]


def head_divergence(attention: Attention, report: Report = silent) -> np.ndarray:
    """Return the Jensen-Shannon divergence between the heads of a model, in bits, the mean over `compared_queries`.

    The first query of a text is left out, because all heads of a decoder look only at itself there.
    Returns float64 [heads of all layers, the same]; head h of layer l is l · heads + h. JS(p, q) = H((p + q) / 2) −
    (H(p) + H(q)) / 2, in 0..1: 0 for heads that look alike, 1 for heads that never look at the same key. Its square root is a
    distance (Endres and Schindelin 2003); Clark et al. 2019 compare heads by it. NaN for heads that a layer does not have.
    report(share, words): called with the progress; it may raise to stop.
    """
    queries, counts = compared_queries(attention), attention.counts
    rows = np.concatenate([attention[layer][:, queries] for layer in range(attention.layers)])  # [all heads, query, key]
    count = len(rows)
    own = entropy_of(rows).sum(-1)  # nats, summed over the queries
    rows = rows[:, (rows > 0).any(0)]  # [all heads, cell]: what nobody looks at adds nothing
    negative = np.zeros((count, count))  # Σ m ln m, m = (p + q) / 2
    steps = range(0, rows.shape[1], CELLS)
    for step, start in enumerate(steps):
        part = rows[:, start : start + CELLS]
        for head in range(count - 1):
            if head % 16 == 0:
                report((step + head / count) / len(steps), "Comparing heads")
            mean = (part[head] + part[head + 1 :]) / 2
            negative[head, head + 1 :] += np.einsum("hc,hc->h", mean, np.log(mean + np.float32(1e-30)))
    negative += negative.T
    divergence = (-negative - (own[:, None] + own) / 2) / np.log(2) / len(queries)
    np.fill_diagonal(divergence, 0)
    places = [layer * attention.heads + head for layer, heads in enumerate(counts) for head in range(heads)]
    with_missing = np.full((attention.layers * attention.heads,) * 2, np.nan)
    with_missing[np.ix_(places, places)] = np.clip(divergence, 0, 1)
    return with_missing


@dataclass(frozen=True)
class HeadMap:
    """A map of heads. points: float64 [heads of all layers, 2]; explained: their share of all squared distance, in 0..1."""

    points: np.ndarray
    explained: float


def head_map(divergence: np.ndarray) -> HeadMap:
    """Return heads in the plane, at distances that approximate their divergence: classical scaling (Torgerson 1952) of √JS.

    divergence: [head, head], as `head_divergence` returns it. The same divergence gives the same map; its rotation has no
    meaning. Errors: ValueError for a matrix that is not square and symmetric.
    """
    divergence = np.asarray(divergence, dtype=np.float64)
    if (
        divergence.ndim != 2
        or divergence.shape[0] != divergence.shape[1]
        or not np.allclose(divergence, divergence.T, equal_nan=True)
    ):
        raise ValueError(f"Divergences of shape {list(divergence.shape)}: give one for each pair of heads, [head, head].")
    present = np.flatnonzero(np.isfinite(np.diag(divergence)))
    if len(present) < len(divergence):  # heads that a layer has not have no place
        present_map, points = head_map(divergence[np.ix_(present, present)]), np.full((len(divergence), 2), np.nan)
        points[present] = present_map.points
        return HeadMap(points, present_map.explained)
    double_centred = divergence - divergence.mean(0) - divergence.mean(1)[:, None] + divergence.mean()
    values, vectors = np.linalg.eigh(-double_centred / 2)
    values = np.maximum(0, values)
    points = np.zeros((len(divergence), 2))
    for axis in range(min(2, len(divergence))):
        along = vectors[:, -1 - axis] * np.sqrt(values[-1 - axis])
        points[:, axis] = along * (np.sign(along[np.abs(along).argmax()]) or 1)
    return HeadMap(points, float(values[-2:].sum() / values.sum()) if values.sum() > 0 else 1.0)
