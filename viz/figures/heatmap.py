"""Attention as Plotly heatmaps: a row for each query, a column for each key; one head, all of a layer, or a difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from viz.figures import style
from viz.palette import DIVERGING, SEQUENTIAL
from viz.tokens import row_names
from viz.views.model_view.shrink import shrink

_GRID_ROW = 196  # pixels of a row of heatmaps, and of the name above each
_GRID_NAME = 26


def heatmap(
    queries: Sequence[Any],
    keys: Sequence[Any],
    weights: np.ndarray,
    title: str = "",
    unit: str = "attention",
    scale: Literal["fixed", "own"] = "fixed",
    starts: tuple[int, int] = (0, 0),
) -> go.Figure:
    """Draw the weights [query, key] of one head, each in [0, 1], in per cent, rounded to 0.0001 %.

    Each row is a query, each column a key that it looks at. The colours run from 0 to 100 %, so that heads can be compared, or
    with `scale="own"` up to the largest weight of this head. Pointing at a cell says `from “ dog” (5) to “ the” (3): 12.3 %`, or
    in cross-attention `after “le”, choosing “chat” (row 2), to “cat” (1): 88 %`. Queries and keys
    are tokens (anything with a `.text`) or strings, always shown as plain text; `starts` are the positions of the first query and
    key, if they are a part of a longer text. Above 256 tokens a side a cell is the maximum of the weights that it covers; the
    colour bar says so, and pointing at a cell names them. Raises ValueError where the weights do not fit the tokens.
    """
    percent = style.in_percent(shrink(_fitting(weights, queries, keys), style.SIDE))
    top = _top(percent, scale)
    hover = f"{style.where(queries)}: %{{z:.3r}} %<extra></extra>"
    look = {"zmin": 0, "zmax": top, "colorscale": SEQUENTIAL, "hovertemplate": hover}
    return _names_above(
        _heatmap(queries, keys, percent, title, unit + _coarse(len(queries), len(keys), "the largest"), look, starts)
    )


def difference(
    queries: Sequence[Any],
    keys: Sequence[Any],
    a: np.ndarray,
    b: np.ndarray,
    names: tuple[str, str] = ("first", "second"),
    title: str = "",
    starts: tuple[int, int] = (0, 0),
) -> go.Figure:
    """Draw a − b, the difference of two heads' weights [query, key] on the same tokens, in percentage points, rounded to 0.0001.

    Cells are red where `a` gives more, blue where `b` does, white where they agree; the scale reaches the largest difference on
    both sides. `names` are those of the two heads. Axes, hover and starts as in `heatmap`; above 256 tokens a side a cell shows
    the difference that is furthest from zero among those that it covers. Where either is NaN (masked), nothing is drawn. Raises
    ValueError where the weights do not fit the tokens.
    """
    points = _fitting(a, queries, keys).astype(np.float64) - _fitting(b, queries, keys)
    up, down = shrink(points, style.SIDE), -shrink(-points, style.SIDE)
    points = style.in_percent(np.where(up >= -down, up, down))
    most = float(np.nanmax(np.abs(points), initial=0.0)) or 1.0
    first, second = (style.escape_plotly(style.short(name)) for name in names)
    hover = f"{style.where(queries)}: %{{z:+.3r}} percentage points<extra></extra>"
    scale = {"zmin": -most, "zmax": most, "colorscale": DIVERGING, "hovertemplate": hover}
    figure = _heatmap(queries, keys, points, title, "", scale, starts)
    unit = f"{first} − {second} (percentage points)" + _coarse(len(queries), len(keys), "the furthest from zero")
    figure.update_traces(colorbar={"title": {"text": unit}, "ticksuffix": ""})
    return figure


def heatmap_grid(
    queries: Sequence[Any],
    keys: Sequence[Any],
    weights: np.ndarray,
    columns: int = 4,
    title: str = "",
    unit: str = "attention",
    scale: Literal["fixed", "own"] = "fixed",
    names: Sequence[str] | None = None,
    starts: tuple[int, int] = (0, 0),
) -> go.Figure:
    """Draw all heads of a layer, weights [heads, query, key] in [0, 1], in per cent with one colour scale and one colour bar.

    The scale runs from 0 to 100 %, or with `scale="own"` to the largest weight of all heads. Above 64 tokens a cell is the
    maximum of the weights that it covers; the picture says so, and pointing at a cell names them. `names` are those of the heads
    (by default H0, H1, …); `starts` as in `heatmap`. Raises ValueError where weights or names do not fit.
    """
    weights = np.asarray(weights)
    if weights.ndim != 3 or weights.shape[1:] != (len(queries), len(keys)) or weights.size == 0 or columns < 1:
        raise ValueError(
            f"Weights of shape {weights.shape} do not fit {len(queries)} queries and {len(keys)} keys: give [heads, query, key]."
        )
    names = [f"H{head}" for head in range(len(weights))] if names is None else list(names)
    if len(names) != len(weights):
        raise ValueError(f"There are {len(weights)} heads, and {len(names)} names for them.")
    percent = style.in_percent(shrink(weights, style.GRID_SIDE))
    words = f"down: {style.FROM if row_names(queries) is None else style.CHOOSING}, across: to (key)"
    if max(len(queries), len(keys)) > style.GRID_SIDE:
        words += "<br>each cell is the largest of " + " × ".join(
            style.span(size, style.GRID_SIDE) for size in (len(queries), len(keys))
        )
    above = style.BAR_ROOM + (style.TITLE_ROOM if title else 0) + 18 * (1 + words.count("<br>"))
    side = min(_GRID_ROW, 1200 // columns)
    inside = -(-len(weights) // columns) * (side + _GRID_NAME)
    height = above + inside + 10
    x, y = style.spans(keys, starts[1], style.GRID_SIDE), style.spans(queries, starts[0], style.GRID_SIDE)
    square = max(percent.shape[1:]) <= 4 * min(percent.shape[1:])
    figure, layout = go.Figure(), {}
    for head, name in enumerate(names):
        number, (row, column) = head + 1 if head else "", divmod(head, columns)
        top = 1 - (row * (side + _GRID_NAME) + _GRID_NAME) / inside
        across = [column / columns, (column + 0.94) / columns]
        placed = {"domain": across, "anchor": f"y{number}", "side": "top", "constraintoward": "left"}
        layout[f"xaxis{number}"] = style.BARE | placed | {"title": {"text": style.escape_plotly(name), "standoff": 2}}
        placed = {"domain": [max(0, top - side / inside), top], "anchor": f"x{number}", "autorange": "reversed"}
        layout[f"yaxis{number}"] = style.BARE | placed | {"constraintoward": "top"}
        if square:
            layout[f"yaxis{number}"] |= {"scaleanchor": f"x{number}", "scaleratio": 1}
        called = style.escape_plotly(name).replace("%", "&#37;")  # %{…} would be a place of the template
        hover = f"{called}, {style.where(queries)}: %{{z:.3r}} %<extra></extra>"
        cells = go.Heatmap(x=x, y=y, z=percent[head], coloraxis="coloraxis", hovertemplate=hover, hoverongaps=False)
        figure.add_trace(cells.update(xaxis=f"x{number}", yaxis=f"y{number}"))
    bar = style.bar(unit, title, height)
    colours = {"colorscale": SEQUENTIAL, "cmin": 0, "cmax": _top(percent, scale), "colorbar": bar}
    figure.update_layout(
        style.look(title, height) | {"margin": {"l": 10, "r": 10, "t": above, "b": 10}, "coloraxis": colours} | layout
    )
    figure.add_annotation(
        text=words, x=0, y=1, xref="paper", yref="paper", xanchor="left", yanchor="bottom", align="left", showarrow=False
    )
    return figure


def _heatmap(
    queries: Sequence[Any],
    keys: Sequence[Any],
    percent: np.ndarray,
    title: str,
    unit: str,
    scale: dict[str, Any],
    starts: tuple[int, int] = (0, 0),
) -> go.Figure:
    """Return one heatmap with its axes, and its colour bar above it."""
    rows, columns = percent.shape
    above = style.BAR_ROOM + (style.TITLE_ROOM if title else 0)
    side = min(max(240, 120 + 34 * max(rows, columns)), 420) if max(rows, columns) <= 40 else 560
    height = above + side + style.TICK_ROOM
    x, y = style.spans(keys, starts[1], style.SIDE), style.spans(queries, starts[0], style.SIDE)
    cells = go.Heatmap(x=x, y=y, z=percent, colorbar=style.bar(unit, title, height), hoverongaps=False, **scale)
    figure = go.Figure(cells)
    figure.update_layout(
        **style.look(title, height),
        margin={"l": 10, "r": 10, "t": above, "b": 10},
        xaxis={"title": {"text": style.TO}, "tickangle": -60 if columns > 6 else 0, **style.axis(keys)},
        yaxis={
            "title": {"text": style.FROM if row_names(queries) is None else style.CHOOSING},
            "autorange": "reversed",
            **style.axis(queries),
        },
    )
    if max(rows, columns) <= 4 * min(rows, columns):  # square cells, unless they would make a thread of the picture
        figure.update_xaxes(constrain="domain", constraintoward="left")
        figure.update_yaxes(constrain="domain", constraintoward="top", scaleanchor="x", scaleratio=1)
    return figure


def _names_above(figure: go.Figure) -> go.Figure:
    """Move the names of the columns above the cells: a tall heatmap has its foot out of sight."""
    layout, bar = figure.layout, figure.data[0].colorbar
    tilted = layout.xaxis.tickangle != 0
    room = min(style.TICK_ROOM, 44 + (6 * max(map(len, layout.xaxis.ticktext)) if tilted else 0))
    before = layout.height
    layout.update(height=before - style.TICK_ROOM + room, margin_t=layout.margin.t + room)
    bar.y = 1 - (1 - bar.y) * before / layout.height  # stays as far from the top
    return figure.update_xaxes(side="top")


def _fitting(weights: np.ndarray, queries: Sequence[Any], keys: Sequence[Any]) -> np.ndarray:
    weights = np.asarray(weights)
    if weights.shape != (len(queries), len(keys)) or weights.size == 0:
        raise ValueError(f"Weights of shape {weights.shape} do not fit {len(queries)} queries and {len(keys)} keys.")
    return weights


def _top(percent: np.ndarray, scale: str) -> float:
    return 100.0 if scale == "fixed" else float(np.nanmax(percent, initial=0.0)) or 100.0


def _coarse(queries: int, keys: int, which: str) -> str:
    """Return a sentence on cells that cover several weights; "" if each weight has its own cell."""
    return (
        f", {which} of {style.span(queries, style.SIDE)} × {style.span(keys, style.SIDE)} a cell"
        if max(queries, keys) > style.SIDE
        else ""
    )
