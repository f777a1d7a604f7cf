"""Losses of models of several sizes, on logarithmic axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR
from viz.palette import DASHES, LINES

TICKS = 5  # numbers on the axis of losses, which lie within less than a power of ten
Points = tuple[Sequence[float], Sequence[float], Sequence[float], Sequence[float]]


def on_log_axes(
    series: Mapping[str, Points],
    law: tuple[Sequence[float], Sequence[float]] | None = None,
    *,
    across: str,
    up: str,
    law_name: str = "",
    height: int = 320,
) -> go.Figure:
    """Draw lines through points on two logarithmic axes.

    series: by name, the place of each point, and the mean, the lowest and the highest value there; law: the places and values of
    a dashed line, a fitted law, which `law_name` names. Errors: ValueError for numbers that have no logarithm.
    """
    figure = go.Figure()
    for number, (name, points) in enumerate(series.items()):
        x, mean, low, high = (np.asarray(values, dtype=np.float64) for values in points)
        if not (x > 0).all() or not (low > 0).all():
            raise ValueError(f"{name}: only numbers above 0 have a place on a logarithmic axis.")
        figure.add_scatter(
            x=x,
            y=mean,
            name=name,
            mode="lines+markers",
            line={"color": LINES[number % len(LINES)], "dash": DASHES[number % len(DASHES)], "width": 2},
            error_y={"array": high - mean, "arrayminus": mean - low, "thickness": 1, "width": 3},
            hovertemplate=f"{name}: %{{y:.3g}} at %{{x:.3g}}<extra></extra>",
        )
    if law is not None:
        line = {"color": "rgba(128,136,150,.9)", "dash": "dash", "width": 2}
        figure.add_scatter(x=list(law[0]), y=list(law[1]), name=law_name, mode="lines", line=line, hoverinfo="skip")
    ticks = places(series)
    figure.update_layout(
        **CLEAR,
        height=height,
        margin={"l": 8, "r": 8, "t": 10, "b": 0},
        xaxis={"title": {"text": across}, "type": "log", "automargin": True, "exponentformat": "power"},
        yaxis={
            "title": {"text": up},
            "type": "log",
            "automargin": True,
            "tickvals": ticks,
            "ticktext": [f"{tick:g}" for tick in ticks],
        },
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        showlegend=True,
    )
    return figure


def places(series: Mapping[str, Points]) -> list[float]:
    """Return numbers for an axis, evenly spaced in their logarithms from the lowest to the highest value."""
    low, high = min(min(low) for _, _, low, _ in series.values()), max(max(high) for _, _, _, high in series.values())
    return list(dict.fromkeys(float(f"{tick:.3g}") for tick in np.geomspace(low, high, TICKS)))
