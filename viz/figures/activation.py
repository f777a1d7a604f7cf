"""The curve of an activation function, with one input and its output marked on it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, GREY, escape_plotly

_POINT = "#d0661a"  # in sight on a light and on a dark page
_LEAST, _POINTS = 4.0, 241  # the curve runs at least so far to both sides, in so many points


def activation_curve(
    function: Callable[[np.ndarray], np.ndarray], name: str, point: float, across: str = "", up: str = ""
) -> go.Figure:
    """Draw the curve of a function of arrays, and the point above `point`. across, up: names of the two axes."""
    span = max(_LEAST, 1.25 * abs(point))
    x = np.linspace(-span, span, _POINTS).astype(np.float32)
    y = function(np.array([point], np.float32))
    called = escape_plotly(name)
    figure = go.Figure()
    figure.add_scatter(
        x=x,
        y=function(x),
        mode="lines",
        line={"color": GREY, "width": 2},
        name=called,
        hovertemplate=f"{called}: %{{y:.3f}} of %{{x:.3f}}<extra></extra>",
    )
    figure.add_scatter(
        x=[point],
        y=y,
        mode="markers",
        marker={"color": _POINT, "size": 11},
        name="here",
        hovertemplate="here: %{y:.3f} of %{x:.3f}<extra></extra>",
    )
    figure.update_layout(
        **CLEAR,
        height=240,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        showlegend=False,
        xaxis={"title": {"text": escape_plotly(across)}, "automargin": True, "zeroline": True},
        yaxis={"title": {"text": escape_plotly(up)}, "automargin": True, "zeroline": True},
    )
    return figure
