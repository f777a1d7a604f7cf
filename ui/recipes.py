"""How each picture is made: a trace, what is looked at of it, and options that can be written down.

A notebook that is taken away carries these very functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from analysis import Scope, entropy, order, paragraph, patterns, query_key, rollout, surprise
from models.trace import Trace
from viz import View, head_view, model_view, query_key_view, reading_view
from viz.heatmap import difference, heatmap, heatmap_grid


def head_lines(trace: Trace, seen: Scope, *, layer: int, heads: list[int] | None, chosen: int | None) -> View:
    held = None if chosen is None else ("from", chosen)
    return head_view(seen.queries.tokens, seen.keys.tokens, seen[layer], layer=layer, heads=heads, chosen=held)


def reading(
    trace: Trace, seen: Scope, *, kind: str, shade: str, layer: int, head: int, chosen: int | None, causal: bool, target: str
) -> View:
    weights = {
        "head": lambda: seen[layer][head],
        "layer": lambda: seen[layer].mean(0),
        "all heads": lambda: seen[layer],
        "rollout": lambda: seen.apply(rollout(seen.attention)[layer].astype(np.float32)),
    }[shade]()
    tokens, weights, start = paragraph(trace, kind, seen, weights, target)
    held = None if chosen is None else start + chosen
    return reading_view(tokens, weights, held, causal=causal, toggle=True, second=start or None)


def quantity(trace: Trace, seen: Scope, *, kind: str, shade: str, layer: int, head: int, target: str) -> View:
    each = entropy(seen.attention)[layer, head] if shade == "entropy" else surprise(trace)
    groups = seen.queries.groups
    mean = np.array([np.nanmean(each[group]) if np.isfinite(each[group]).any() else np.nan for group in groups])
    tokens, _, _ = paragraph(trace, kind, seen, None, target)
    return reading_view(tokens, None, quantity=mean, unit="nats" if shade == "entropy" else "bits", causal=False)


def all_heads(trace: Trace, seen: Scope, *, layer: int, head: int, by: str, filter: str, clear: float) -> View:
    attention = seen.attention
    table, square = patterns(attention), (attention.layers, attention.heads)
    notes = [f"{row.pattern}, entropy {row.entropy:.2f} nats" for row in table.itertuples()]
    return model_view(
        (seen[one] for one in range(attention.layers)),
        chosen=(layer, head),
        notes=np.array(notes, dtype=object).reshape(square).tolist(),
        order=None if by == "layer" else order(attention, by, table),
        values=table["pattern"].to_numpy().reshape(square),
        faint=~(table[filter].to_numpy() >= clear).reshape(square) if filter else None,
    )


def numbers(trace: Trace, seen: Scope, *, layer: int, head: int, position: int) -> View:
    parts = query_key(seen.attention, layer, head, position)
    query, keys = seen.attention.queries[position], seen.attention.keys
    return query_key_view(query, keys, **vars(parts), position=position, title=f"L{layer} H{head}")


def one_head(trace: Trace, seen: Scope, *, layer: int, head: int, causal: bool, title: str) -> go.Figure:
    return heatmap(seen.queries.tokens, seen.keys.tokens, past(seen[layer][head], causal), title=title)


def a_layer(trace: Trace, seen: Scope, *, layer: int, causal: bool, title: str) -> go.Figure:
    return heatmap_grid(seen.queries.tokens, seen.keys.tokens, past(seen[layer], causal), title=title)


def two_heads(trace: Trace, seen: Scope, *, layer: int, heads: list[int], causal: bool, title: str) -> go.Figure:
    a, b = (past(seen[layer][head], causal) for head in heads)
    names = (f"H{heads[0]}", f"H{heads[1]}")
    return difference(seen.queries.tokens, seen.keys.tokens, a, b, names, title=title)


def past(weights: np.ndarray, causal: bool) -> np.ndarray:
    """Weights [..., query, key] with the future, which a decoder masks, left blank rather than drawn as 0 %."""
    return np.where(np.triu(np.ones(weights.shape[-2:], dtype=bool), 1), np.nan, weights) if causal else weights
