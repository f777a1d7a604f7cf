"""Pictures of the parts of a transformer: positions as numbers, their dot products by distance, and the bench of √d_k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, GREY
from viz.palette import DASHES, DIVERGING, LINES

_WIDE = 1000  # times the smallest: on a longer axis only powers of ten have room for their numbers


def encoding_heatmap(values: np.ndarray, title: str, across: str = "dimension", down: str = "position") -> go.Figure:
    """Draw the vector of each position, [position, dimension], red above 0 and blue below."""
    values = np.asarray(values, dtype=np.float32)
    if values.ndim != 2 or values.size == 0:
        raise ValueError(f"Positions of shape {list(values.shape)}: give [position, dimension].")
    most = float(np.abs(values).max()) or 1.0
    hover = f"{down} %{{y}}, {across} %{{x}}: %{{z:.3f}}<extra></extra>"
    figure = go.Figure(go.Heatmap(z=values, zmin=-most, zmax=most, colorscale=DIVERGING, hovertemplate=hover))
    figure.update_layout(
        **CLEAR,
        height=360,
        title=title,
        margin={"l": 10, "r": 10, "t": 46, "b": 10},
        xaxis={"title": across},
        yaxis={"title": down, "autorange": "reversed"},
    )
    return figure


def lines(
    x: np.ndarray,
    series: Mapping[str, np.ndarray],
    title: str,
    across: str,
    up: str,
    log_x: bool = False,
    log_y: bool = False,
    mark: tuple[str, float] | None = None,
) -> go.Figure:
    """Draw curves over a common x. mark: the name and the place of a vertical line, if there is one."""
    figure = go.Figure()
    for number, (name, y) in enumerate(series.items()):
        line = {"color": LINES[number % len(LINES)], "dash": DASHES[number % len(DASHES)]}
        figure.add_trace(go.Scatter(x=x, y=y, name=name, line=line, mode="lines+markers" if len(x) < 30 else "lines"))
    if mark:
        name, at = mark
        height = [min(float(y.min()) for y in series.values()), max(float(y.max()) for y in series.values())]
        figure.add_trace(go.Scatter(x=[at, at], y=height, name=name, line={"color": GREY, "dash": "dot"}, mode="lines"))
    figure.update_layout(
        **CLEAR,
        height=340,
        title=title,
        margin={"l": 10, "r": 10, "t": 46, "b": 10},
        xaxis={"title": across} | (_powers(x) if log_x else {}),
        yaxis={"title": up} | (_powers(np.concatenate(list(series.values()))) if log_y else {}),
        legend={"orientation": "h", "y": -0.4, "yanchor": "top"},
        showlegend=len(series) > 1,
    )
    return figure


def _powers(values: np.ndarray) -> dict[str, Any]:
    """Return a logarithmic axis with uncrowded numbers: 1, 2 and 5 times each power of ten, or only the powers on a long axis."""
    known = values[np.isfinite(values) & (values > 0)]
    if known.size == 0 or known.max() / known.min() > _WIDE:
        return {"type": "log", "dtick": 1}
    powers = range(int(np.floor(np.log10(known.min()))), int(np.floor(np.log10(known.max()))) + 1)
    ticks = [times * 10.0**power for power in powers for times in (1, 2, 5)]
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,g}" for tick in ticks]}  # else "2" stands for 20, too
