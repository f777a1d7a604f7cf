"""Attention as Plotly heatmaps: a row for each query, a column for each key; one head, all of a layer, or a difference."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from viz.palette import DARK, DIVERGING, LIGHT, SEQUENTIAL, sequential
from viz.tokens import label, row_names
from viz.views.model_view.shrink import edges, shrink

_MOST_TICKS = 40
_LONGEST_TICK = 18  # characters
_LINE = 34  # pixels of the title
BAR_ROOM = 62  # pixels of the colour bar with its text, above the picture
_TICK_ROOM = 110  # pixels of tick text and axis title below it
_SIDE = 256  # the most cells a side of one heatmap: more than there are pixels for, and megabytes at every key press
_GRID_SIDE = 64  # the most cells a side of each heatmap in a grid
_GRID_ROW = 196  # pixels of a row of heatmaps, and of the name above each
_GRID_NAME = 26
_BAR = {
    "orientation": "h",
    "x": 0,
    "xanchor": "left",
    "yref": "container",
    "yanchor": "top",
    "len": 240,
    "lenmode": "pixels",
    "thickness": 10,
    "xpad": 0,
    "ypad": 0,
    "outlinewidth": 0,
    "ticksuffix": " %",
    "nticks": 6,
}
FROM, CHOOSING = "from (query)", "from (query), choosing"  # a row of cross-attention is named by what it chooses
# An axis of a heatmap in a grid: what stands where is said on hover.
_BARE = {"type": "category", "showticklabels": False, "showgrid": False, "zeroline": False, "ticks": "", "constrain": "domain"}


def heatmap(
    queries: Sequence[Any],
    keys: Sequence[Any],
    weights: np.ndarray,
    title: str = "",
    unit: str = "attention",
    scale: Literal["fixed", "own"] = "fixed",
    starts: tuple[int, int] = (0, 0),
) -> go.Figure:
    """The weights [query, key] of one head, each in [0, 1], drawn in per cent, rounded to 0.0001 %.

    A row is what the query looks from, downwards; a column is the key that it looks to. The colours run from 0 to 100
    %, so that heads can be compared, or with `scale="own"` to the largest weight here. Pointing at a cell says `from “ dog” (5)
    to “ the” (3): 12.3 %`, or in cross-attention `after “le”, choosing “chat” (row 2), to “cat” (1): 88 %`. Queries and keys
    are tokens (anything with a `.text`) or strings, shown as text whatever they hold; `starts` are the positions of the first
    query and key, where they are a part of a text. Above 256 tokens a side a cell is the maximum of those that it covers; the
    colour bar says so, and pointing at a cell says which they are. Raises ValueError where the weights do not fit the tokens.
    """
    percent = _percent(shrink(_fitting(weights, queries, keys), _SIDE))
    top = _top(percent, scale)
    hover = f"{_where(queries)}: %{{z:.3r}} %<extra></extra>"
    look = {"zmin": 0, "zmax": top, "colorscale": SEQUENTIAL, "hovertemplate": hover}
    return _one(queries, keys, percent, title, unit + _coarse(len(queries), len(keys), "the largest"), look, starts)


def difference(
    queries: Sequence[Any],
    keys: Sequence[Any],
    a: np.ndarray,
    b: np.ndarray,
    names: tuple[str, str] = ("first", "second"),
    title: str = "",
    starts: tuple[int, int] = (0, 0),
) -> go.Figure:
    """a − b, two heads' weights [query, key] on the same tokens, in percentage points, rounded to 0.0001.

    Red is where `a` gives more, blue where `b` does, white where they agree; the scale goes as far to either side as the largest
    difference. `names` are what the two are called. Axes, hover and starts as in `heatmap`; above 256 tokens a side a cell is
    the one of those that it covers that is furthest from zero. Where either is NaN (masked), nothing is drawn. Raises
    ValueError where the weights do not fit the tokens.
    """
    points = _fitting(a, queries, keys).astype(np.float64) - _fitting(b, queries, keys)
    up, down = shrink(points, _SIDE), -shrink(-points, _SIDE)
    points = _percent(np.where(up >= -down, up, down))
    most = float(np.nanmax(np.abs(points), initial=0.0)) or 1.0
    first, second = (escape_plotly(_short(name)) for name in names)
    hover = f"{_where(queries)}: %{{z:+.3r}} percentage points<extra></extra>"
    scale = {"zmin": -most, "zmax": most, "colorscale": DIVERGING, "hovertemplate": hover}
    figure = _one(queries, keys, points, title, "", scale, starts)
    said = f"{first} − {second} (percentage points)" + _coarse(len(queries), len(keys), "the furthest from zero")
    figure.update_traces(colorbar={"title": {"text": said}, "ticksuffix": ""})
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
    """All heads of a layer, weights [heads, query, key] in [0, 1], drawn in per cent with one colour scale and one colour bar.

    The scale runs from 0 to 100 %, or with `scale="own"` to the largest weight of all heads. Above 64 tokens a cell is
    the maximum of those that it covers; the picture says so, and pointing at it says which they are. `names` are what the heads
    are called (H0, H1, … otherwise); `starts` as in `heatmap`. Raises ValueError where weights or names do not fit.
    """
    weights = np.asarray(weights)
    if weights.ndim != 3 or weights.shape[1:] != (len(queries), len(keys)) or weights.size == 0 or columns < 1:
        raise ValueError(
            f"Weights of shape {weights.shape} do not fit {len(queries)} queries and {len(keys)} keys: give [heads, query, key]."
        )
    names = [f"H{head}" for head in range(len(weights))] if names is None else list(names)
    if len(names) != len(weights):
        raise ValueError(f"There are {len(weights)} heads, and {len(names)} names for them.")
    percent = _percent(shrink(weights, _GRID_SIDE))
    words = f"down: {FROM if row_names(queries) is None else CHOOSING}, across: to (key)"
    if max(len(queries), len(keys)) > _GRID_SIDE:
        words += "<br>each cell is the largest of " + " × ".join(_span(size, _GRID_SIDE) for size in (len(queries), len(keys)))
    above = BAR_ROOM + (_LINE if title else 0) + 18 * (1 + words.count("<br>"))
    side = min(_GRID_ROW, 1200 // columns)
    inside = -(-len(weights) // columns) * (side + _GRID_NAME)
    height = above + inside + 10
    x, y = _spans(keys, starts[1], _GRID_SIDE), _spans(queries, starts[0], _GRID_SIDE)
    square = max(percent.shape[1:]) <= 4 * min(percent.shape[1:])
    figure, layout = go.Figure(), {}
    for head, name in enumerate(names):
        number, (row, column) = head + 1 if head else "", divmod(head, columns)
        top = 1 - (row * (side + _GRID_NAME) + _GRID_NAME) / inside
        across = [column / columns, (column + 0.94) / columns]
        placed = {"domain": across, "anchor": f"y{number}", "side": "top", "constraintoward": "left"}
        layout[f"xaxis{number}"] = _BARE | placed | {"title": {"text": escape_plotly(name), "standoff": 2}}
        placed = {"domain": [max(0, top - side / inside), top], "anchor": f"x{number}", "autorange": "reversed"}
        layout[f"yaxis{number}"] = _BARE | placed | {"constraintoward": "top"}
        if square:
            layout[f"yaxis{number}"] |= {"scaleanchor": f"x{number}", "scaleratio": 1}
        called = escape_plotly(name).replace("%", "&#37;")  # %{…} would be a place of the template
        hover = f"{called}, {_where(queries)}: %{{z:.3r}} %<extra></extra>"
        cells = go.Heatmap(x=x, y=y, z=percent[head], coloraxis="coloraxis", hovertemplate=hover)
        figure.add_trace(cells.update(xaxis=f"x{number}", yaxis=f"y{number}"))
    bar = _bar(unit, title, height)
    colours = {"colorscale": SEQUENTIAL, "cmin": 0, "cmax": _top(percent, scale), "colorbar": bar}
    figure.update_layout(
        _look(title, height) | {"margin": {"l": 10, "r": 10, "t": above, "b": 10}, "coloraxis": colours} | layout
    )
    figure.add_annotation(
        text=words, x=0, y=1, xref="paper", yref="paper", xanchor="left", yanchor="bottom", align="left", showarrow=False
    )
    return figure


def on_page(figure: go.Figure, dark: bool) -> go.Figure:
    """The same figure with the accent of the light or the dark page in its scale of attention."""
    light, night = (sequential(theme["accent"]) for theme in (LIGHT, DARK))
    for place in (figure.layout.coloraxis, *figure.select_traces({"type": "heatmap"})):
        if place.colorscale in (SEQUENTIAL, light, night):
            place.colorscale = night if dark else light
    return figure


def _one(
    queries: Sequence[Any],
    keys: Sequence[Any],
    percent: np.ndarray,
    title: str,
    unit: str,
    scale: dict[str, Any],
    starts: tuple[int, int] = (0, 0),
) -> go.Figure:
    """One heatmap with its axes, and its colour bar above it."""
    rows, columns = percent.shape
    above = BAR_ROOM + (_LINE if title else 0)
    side = min(max(240, 120 + 34 * max(rows, columns)), 420) if max(rows, columns) <= 40 else 560
    height = above + side + _TICK_ROOM
    x, y = _spans(keys, starts[1], _SIDE), _spans(queries, starts[0], _SIDE)
    cells = go.Heatmap(x=x, y=y, z=percent, colorbar=_bar(unit, title, height), **scale)
    figure = go.Figure(cells)
    figure.update_layout(
        **_look(title, height),
        margin={"l": 10, "r": 10, "t": above, "b": 10},
        xaxis={"title": {"text": "to (key)"}, "tickangle": -60 if columns > 6 else 0, **_axis(keys)},
        yaxis={"title": {"text": FROM if row_names(queries) is None else CHOOSING}, "autorange": "reversed", **_axis(queries)},
    )
    if max(rows, columns) <= 4 * min(rows, columns):  # square cells, unless they would make a thread of the picture
        figure.update_xaxes(constrain="domain", constraintoward="left")
        figure.update_yaxes(constrain="domain", constraintoward="top", scaleanchor="x", scaleratio=1)
    return figure


def _bar(unit: str, title: str, height: int) -> dict[str, Any]:
    """The colour bar at the top of a picture, below its title."""
    return _BAR | {"title": {"text": escape_plotly(unit), "side": "top"}, "y": 1 - (_LINE if title else 0) / height}


def _look(title: str, height: int) -> dict[str, Any]:
    return {
        "title": {"text": escape_plotly(title), "x": 0, "y": 1, "yref": "container", "yanchor": "top"} if title else None,
        "height": height,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }


def _fitting(weights: np.ndarray, queries: Sequence[Any], keys: Sequence[Any]) -> np.ndarray:
    weights = np.asarray(weights)
    if weights.shape != (len(queries), len(keys)) or weights.size == 0:
        raise ValueError(f"Weights of shape {weights.shape} do not fit {len(queries)} queries and {len(keys)} keys.")
    return weights


def _percent(weights: np.ndarray) -> np.ndarray:
    return (100 * weights.astype(np.float64)).round(4).astype(np.float32)


def _top(percent: np.ndarray, scale: str) -> float:
    return 100.0 if scale == "fixed" else float(np.nanmax(percent, initial=0.0)) or 100.0


def _coarse(queries: int, keys: int, which: str) -> str:
    """What a cell is where it covers several weights; nothing where each has its own."""
    return f", {which} of {_span(queries, _SIDE)} × {_span(keys, _SIDE)} a cell" if max(queries, keys) > _SIDE else ""


def _span(size: int, side: int = _GRID_SIDE) -> str:
    """How many tokens a cell covers."""
    lengths = np.diff(edges(size, side))
    return str(lengths[0]) if lengths.min() == lengths.max() else f"{lengths.min()} or {lengths.max()}"


def _spans(tokens: Sequence[Any], first: int = 0, side: int = _GRID_SIDE) -> list[str]:
    """What the hover calls each row or column: a token, or the first and the last of those that it covers."""
    names, cuts = _names(tokens, first), edges(len(tokens), side).tolist()
    return [names[start] if end == start + 1 else f"{names[start]} … {names[end - 1]}" for start, end in pairwise(cuts)]


def escape_plotly(text: str) -> str:
    """Text that Plotly shows as it is: its labels read a little HTML, and LaTeX between dollars where a page has MathJax."""
    return escape(text, quote=False).replace("$", "&#36;").encode("utf-8", "replace").decode()


def _text(token: Any) -> str:
    return token if isinstance(token, str) else token.text


def _names(tokens: Sequence[Any], first: int = 0) -> list[str]:
    """What the hover calls each token; the position makes it unique, as the categories of an axis must be."""
    if rows := row_names(tokens):
        return [f"{escape_plotly(name)} (row {i})" for i, name in enumerate(rows, first)]
    return [f"“{escape_plotly(_visible(_text(token)))}” ({i})" for i, token in enumerate(tokens, first)]


def _where(queries: Sequence[Any]) -> str:
    """What the hover says of the place of a cell."""
    return "from %{y} to %{x}" if row_names(queries) is None else "%{y}, to %{x}"


def _visible(text: str) -> str:
    return " " * (len(text) - len(text.lstrip(" "))) + label(text.lstrip(" ")) if text.strip(" ") else label(text)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_TICK else text[: _LONGEST_TICK - 1] + "…"


def _axis(tokens: Sequence[Any]) -> dict[str, Any]:
    """Tick text for every token, or for every so many where they would run into one another; of a cell, its first token."""
    first = edges(len(tokens), _SIDE)[:-1].tolist()
    ticks = range(0, len(first), -(-len(first) // _MOST_TICKS))
    shown = [first[tick] for tick in ticks]
    short = [label(_text(tokens[i])) for i in shown]
    short = [_short(text) for text in short]
    return {
        "type": "category",
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": [escape_plotly(text) for text in short],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
    }
