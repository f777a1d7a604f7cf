"""The recipes of this page's pictures: functions of a trace, its scope, and options that are literals.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from analysis import Scope, compare, entropy, order, paragraph, patterns, query_key, rollout, surprise
from models.images.model import ImageModel
from models.trace import Trace
from viz import View, head_view, model_view, patch_view, query_key_view, reading_view
from viz.figures.comparison import comparison
from viz.figures.heatmap import heatmap, heatmap_grid
from viz.figures.style import BAR_ROOM, CHOOSING, FROM, TO
from viz.palette import PATTERNS

ABSENT = "not there: this layer has fewer heads"
PATTERN_NAMES = {
    "previous": "token before",
    "current": "itself",
    "next": "token after",
    "first": "first token",
    "duplicate": "earlier copies",
}


def head_lines(
    trace: Trace,
    seen: Scope,
    *,
    layer: int,
    heads: list[int] | None,
    chosen: int | None,
    key: int | None = None,
    simple: bool = False,
) -> View:
    """Draw a layer's heads as lines. chosen: the query whose lines are shown; key: the key, in its place."""
    selection: tuple[Literal["from", "to"], int] | None = None if chosen is None else ("from", chosen)
    selection = selection if key is None else ("to", key)
    tokens = seen.queries.tokens, seen.keys.tokens
    return head_view(
        *tokens,
        seen[layer],
        layer=seen.attention.numbers[layer],
        heads=heads,
        chosen=selection,
        starts=seen.starts,
        simple=simple,
        link="attention",
    )


def reading(
    trace: Trace, seen: Scope, *, kind: str, shade: str, layer: int, head: int, chosen: int | None, causal: bool, target: str
) -> View:
    tokens, weights, start = paragraph(trace, kind, seen, shades(seen, shade, layer, head), target)
    position = None if chosen is None else start + chosen
    return reading_view(tokens, weights, position, causal=causal, toggle=True, second=start or None, link="attention")


def on_picture(model: ImageModel, trace: Trace, *, layer: int, head: int | None, chosen: int, link: str) -> View:
    """Draw a picture shaded by where a head of a layer looks; head None: the mean of the layer's heads."""
    weights = trace.attention["self"][layer]
    weights = weights.mean(0) if head is None else weights[head]
    return patch_view(model.grid.image_of(trace.tokens), trace.tokens, weights, chosen, link=link, small=True)


def shades(seen: Scope, shade: str, layer: int, head: int) -> np.ndarray:
    """Return the weights that a text is shaded by: [query, key], or of all heads [heads, query, key]."""
    return {
        "head": lambda: seen[layer][head],
        "layer": lambda: seen[layer].mean(0),
        "all heads": lambda: seen[layer],
        "rollout": lambda: seen.apply(rollout(seen.attention)[layer].astype(np.float32)),
    }[shade]()


def quantity(trace: Trace, seen: Scope, *, kind: str, shade: str, layer: int, head: int, target: str) -> View:
    tokens, _, _ = paragraph(trace, kind, seen, None, target)
    mean = token_numbers(trace, seen, shade, layer, head)
    return reading_view(tokens, None, quantity=mean, unit="nats" if shade == "entropy" else "bits", causal=False)


def token_numbers(trace: Trace, seen: Scope, shade: str, layer: int, head: int) -> np.ndarray:
    """Return a number for each token, or for each word the mean over its tokens: [query]; NaN where no token has one."""
    values = entropy(seen.attention)[layer, head] if shade == "entropy" else surprise(trace)
    groups = seen.queries.groups
    return np.array([np.nanmean(values[group]) if np.isfinite(values[group]).any() else np.nan for group in groups])


def all_heads(trace: Trace, seen: Scope, *, layer: int, head: int, by: str, filter: str, clear: float, table: Any = None) -> View:
    attention = seen.attention
    table, square = patterns(attention) if table is None else table, (attention.layers, attention.heads)
    pattern_names = [PATTERN_NAMES.get(name, name) for name in table["pattern"]]
    notes = [
        f"{name}, entropy {nats:.2f} nats" if name else ABSENT for name, nats in zip(pattern_names, table["entropy"], strict=True)
    ]
    return model_view(
        (seen[at] for at in range(attention.layers)),
        chosen=(layer, head),
        notes=np.array(notes, dtype=object).reshape(square).tolist(),
        order=None if by == "layer" else order(attention, by, table),
        values=np.array(pattern_names).reshape(square),
        colours={PATTERN_NAMES.get(name, name): colour for name, colour in PATTERNS.items()},
        faint=~(table[filter].to_numpy() >= clear).reshape(square) if filter else None,
        chooses=attention.chooses,
        numbers=attention.numbers,
        link="heads",
    )


def numbers(trace: Trace, seen: Scope, *, layer: int, head: int, position: int, key: int | None = None) -> View:
    """Draw the steps from a query to its weights. key: the one that is shown while none is pointed at; None: the strongest."""
    parts = query_key(seen.attention, layer, head, position)
    query, keys = seen.attention.rows[position], seen.attention.keys
    title = f"L{seen.attention.numbers[layer]} H{head}"
    return query_key_view(query, keys, **vars(parts), position=position, title=title, chosen=key, link="attention/to")


def one_head(trace: Trace, seen: Scope, *, layer: int, head: int, causal: bool, title: str, simple: bool = False) -> go.Figure:
    weights = without_future(seen, seen[layer][head], causal)
    figure = heatmap(seen.queries.tokens, seen.keys.tokens, weights, title="" if simple else title, starts=seen.starts)
    return plain_axes(without_bar(figure)) if simple else figure


def without_bar(figure: go.Figure) -> go.Figure:
    """Leave out the colour bar above a heatmap, so that more rows are in sight."""
    figure.update_traces(showscale=False)
    layout = figure.layout
    return figure.update_layout(height=layout.height - BAR_ROOM, margin_t=layout.margin.t - BAR_ROOM)


def plain_axes(figure: go.Figure) -> go.Figure:
    """Name the axes of heatmaps in plain words, for beginners."""
    figure.update_xaxes(title_text="to: is looked at", selector={"title.text": TO})
    return figure.update_yaxes(title_text="from: looks", selector=is_from)


def is_from(axis: go.layout.YAxis) -> bool:
    """Return whether an axis is that of the queries."""
    return axis.title.text in (FROM, CHOOSING)


def layer_heads(trace: Trace, seen: Scope, *, layer: int, causal: bool, title: str, columns: int = 4) -> go.Figure:
    weights = without_future(seen, seen[layer], causal)
    return heatmap_grid(seen.queries.tokens, seen.keys.tokens, weights, columns, title, starts=seen.starts)


def comparison_figure(
    trace: Trace,
    seen: Scope,
    other_trace: Trace,
    other: Scope,
    *,
    heads: list[tuple[int, int | None]],
    same_text: bool,
    causal: list[bool],
    names: tuple[str, str],
    title: str,
    narrow: bool = False,
) -> go.Figure:
    common = compare(seen, other, heads, same_text)
    a, b = (np.where(half.future & ahead, np.nan, half.weights) for half, ahead in zip((common.a, common.b), causal, strict=True))
    starts = common.a.queries[0][0] + seen.queries.start, common.a.keys[0][0] + seen.keys.start
    figure = comparison(common.queries, common.keys, a, b, names, title, starts, narrow)
    return figure.update_layout(yaxis_title_text=CHOOSING) if seen.attention.chooses else figure


def without_future(seen: Scope, weights: np.ndarray, causal: bool) -> np.ndarray:
    """Return weights [..., query, key] with NaN for the future, which a decoder masks, so that it stays blank."""
    ends = np.array([group[-1] for group in seen.queries.groups])
    begins = np.array([group[0] for group in seen.keys.groups])
    return np.where(begins > ends[:, None], np.nan, weights) if causal else weights
