"""Two small attention maps side by side, and their difference below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures import style
from viz.figures.heatmap import difference
from viz.palette import SEQUENTIAL
from viz.views.model_view.shrink import shrink

_SMALL, _SMALLER = 160, 124  # pixels of the height of the two, and on a telephone
_NAME = 26  # of the name above each
_GAP = 10  # below them
_LINE = 16  # of text
_HANGING = 24  # that Plotly itself adds for a bar which hangs from the top, and below a title


def comparison(
    queries: Sequence[Any],
    keys: Sequence[Any],
    a: np.ndarray,
    b: np.ndarray,
    names: tuple[str, str] = ("first", "second"),
    title: str = "",
    starts: tuple[int, int] = (0, 0),
    narrow: bool = False,
) -> go.Figure:
    """Draw weights a and b [query, key], each in [0, 1], in per cent on one scale, and a − b in percentage points.

    The two are small (from 0 to 100 %; above 64 tokens a cell is the maximum of those that it covers), and the difference
    below is `heatmap.difference`: red where `a` gives more, blue where `b` does. NaN means masked: where both are masked, nothing
    is drawn; where one is, it counts as 0 in the difference. The first trace is the difference, then come a and b; `starts` as in
    `heatmap`; narrow: for a phone. Raises ValueError where the weights do not fit the tokens.
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape or a.shape != (len(queries), len(keys)) or a.size == 0:
        raise ValueError(f"Weights of shapes {a.shape} and {b.shape} do not fit {len(queries)} queries and {len(keys)} keys.")
    masked = np.isnan(a) & np.isnan(b)
    ours, theirs = (np.where(masked, np.nan, np.nan_to_num(weights)) for weights in (a, b))
    figure = difference(queries, keys, ours, theirs, names, title, starts)
    place = _room_above(style.narrowed(figure) if narrow else figure, title, _SMALLER if narrow else _SMALL)
    x, y, square = style.spans(keys, starts[1]), style.spans(queries, starts[0]), max(a.shape) <= 4 * min(a.shape)
    still = {"automargin": False}  # their room is made below
    for number, weights, name, across in ((2, a, names[0], (0, 0.48)), (3, b, names[1], (0.52, 1))):
        called = style.escape_plotly(style.short(name))
        template = f"{called.replace('%', '&#37;')}, from %{{y}} to %{{x}}: %{{z:.3r}} %<extra></extra>"
        percent, hover = style.in_percent(shrink(weights, style.GRID_SIDE)), {"hovertemplate": template, "hoverongaps": False}
        cells = go.Heatmap(x=x, y=y, z=percent, coloraxis="coloraxis", **hover)
        figure.add_trace(cells.update(xaxis=f"x{number}", yaxis=f"y{number}"))
        down: dict[str, Any] = {"autorange": "reversed", "constraintoward": "top"}
        if square:
            down |= {"scaleanchor": f"x{number}", "scaleratio": 1}
        figure.layout[f"xaxis{number}"] = (
            style.BARE | still | {"domain": across, "anchor": f"y{number}", "constraintoward": "left"}
        )
        figure.layout[f"yaxis{number}"] = style.BARE | still | {"domain": place, "anchor": f"x{number}"} | down
        above = {"x": across[0], "y": place[1], "xref": "paper", "yref": "paper", "xanchor": "left", "yanchor": "bottom"}
        figure.add_annotation(above, text=called, showarrow=False)
    return figure


def _room_above(figure: go.Figure, title: str, small: int) -> tuple[float, float]:
    """Make room for the two maps, with their own colour bar, above their difference; return their share of the height.

    small: their height in pixels.
    """
    layout, unit = figure.layout, figure.data[0].colorbar.title.text
    own = layout.height - layout.margin.t - style.TICK_ROOM  # pixels of the difference
    whole = own + _LINE + style.BAR_ROOM + _GAP + small + _NAME
    layout.height += whole - own
    layout.margin.t = style.BAR_ROOM - _HANGING
    layout.yaxis.domain = (0, own / whole)
    words = {"text": unit.replace(" (percentage points)", ",<br>percentage points")}  # a phone has no room for one line
    figure.data[0].colorbar.update(yref="paper", yanchor="bottom", y=own / whole, ypad=6, title=words)
    bar = style.bar("attention", title, layout.height)
    layout.coloraxis = {"colorscale": SEQUENTIAL, "cmin": 0, "cmax": 100, "colorbar": bar}
    return (own + _LINE + style.BAR_ROOM + _GAP) / whole, (whole - _NAME) / whole
