"""Pictures of a training: curves over its steps, and the step that is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR
from viz.palette import DASHES, HEADS, LINES

_CURSOR = "rgba(128,136,150,.8)"
BAND = 0.18  # opacity of the range between runs
BEGINS = "It has just begun: the lines grow with each step."


def over_steps(
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    steps: int,
    at: int | None = None,
    *,
    bands: Mapping[str, tuple[Sequence[float], Sequence[float], Sequence[float]]] | None = None,
    up: str = "",
    shares: bool = False,
    log: bool = False,
    height: int = 240,
    along: str = "step",
) -> go.Figure:
    """Draw lines over the steps of a training, each a name and its (steps, values); at: the step that a thin line marks.

    bands: behind the line of a name, its steps, lowest and highest values. steps: of the whole training, so that the axis does
    not grow while it runs. shares: whether values are shares of one, drawn in
    per cent; log: whether the scale is logarithmic, by powers of ten. along: the word for what lies along the axis. NaN is left
    out.
    """
    figure = go.Figure()
    colours = LINES if len(series) <= len(LINES) else HEADS
    for number, (name, (x, y)) in enumerate(series.items()):
        if len(x) != len(y):
            raise ValueError(f"{name}: {len(x)} steps have {len(y)} values.")
        line = {"color": colours[number % len(colours)], "dash": DASHES[number % len(DASHES)], "width": 2}
        scale, unit = (100, " %") if shares else (1, "")
        scaled = scale * np.asarray(y, dtype=np.float64)
        if bands and name in bands:
            across, low, high = bands[name]
            edges = scale * np.concatenate([np.asarray(high, dtype=np.float64), np.asarray(low, dtype=np.float64)[::-1]])
            area = {"fill": "toself", "fillcolor": line["color"], "opacity": BAND, "line": {"width": 0}}
            figure.add_scatter(x=[*across, *reversed(across)], y=edges, mode="lines", hoverinfo="skip", showlegend=False, **area)
        hover = f"{name}: %{{y:.3g}}{unit} at {along} %{{x}}<extra></extra>"
        figure.add_scatter(x=list(x), y=scaled, name=name, mode="lines", line=line, hovertemplate=hover)
    if at is not None:
        figure.add_vline(x=at, line={"color": _CURSOR, "width": 1.5, "dash": "dot"})
    figure.update_layout(
        **CLEAR,
        height=height,
        margin={"l": 8, "r": 8, "t": 10, "b": 0},
        xaxis={"title": {"text": along}, "range": [-0.01 * steps, 1.01 * steps], "automargin": True},
        yaxis={"title": {"text": up}, "automargin": True, "type": "log" if log else "linear"},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        showlegend=True,
    )
    if max((len(x) for x, _ in series.values()), default=0) < 2:
        figure.add_annotation(text=BEGINS, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    if shares:
        figure.update_yaxes(range=[-2, 104], ticksuffix=" %")
    return figure
