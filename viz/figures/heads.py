"""The heads of all layers as points, those that look alike beside each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR
from viz.palette import DEPTH


def head_scatter(points: np.ndarray, layers: int, chosen: tuple[int, int] | None = None, height: int = 420) -> go.Figure:
    """Heads of all layers as points [layers · heads, 2], a colour a layer; point i is head i % heads of layer i // heads.

    Raises ValueError where the points are not as many as whole layers of heads.
    """
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 2 or layers < 1 or len(points) % layers or not len(points):
        raise ValueError(f"Points of shape {list(points.shape)}: give [heads of all layers, 2] for {layers} layers.")
    heads = len(points) // layers
    each = np.stack(np.divmod(np.arange(len(points)), heads), axis=1)
    names = [f"L{layer} H{head}" for layer, head in each]
    labelled = _apart(points, names)
    figure = go.Figure(
        go.Scattergl(
            x=points[:, 0],
            y=points[:, 1],
            text=[name if on else "" for name, on in zip(names, labelled, strict=True)],
            hovertext=names,
            mode="markers+text",
            textposition="top center",
            textfont={"size": 10},
            marker={
                "size": 8 if len(points) > 160 else 11,
                "color": each[:, 0],
                "colorscale": DEPTH,
                "cmin": 0,
                "cmax": max(1, layers - 1),
                "line": {"width": 1, "color": "rgba(128,128,128,.8)"},
                "colorbar": {
                    "title": {"text": "layer", "side": "top"},
                    "orientation": "h",
                    "x": 0,
                    "xanchor": "left",
                    "y": 1.02,
                    "yanchor": "bottom",
                    "len": 180,
                    "lenmode": "pixels",
                    "thickness": 10,
                    "outlinewidth": 0,
                    "dtick": max(1, layers // 6),
                },
            },
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    if chosen is not None and 0 <= chosen[0] < layers and 0 <= chosen[1] < heads:
        x, y = points[chosen[0] * heads + chosen[1]]
        ring = {"size": 20, "color": "rgba(0,0,0,0)", "line": {"width": 2.5, "color": "#d9660f"}}
        figure.add_trace(go.Scattergl(x=[x], y=[y], mode="markers", marker=ring, hoverinfo="skip"))
    bare = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": "", "title": None}
    low, high = points.min(0), points.max(0)
    room = 0.12 * (high - low).max() or 1.0
    figure.update_layout(
        height=height,
        margin={"l": 6, "r": 6, "t": 58, "b": 6},
        showlegend=False,
        paper_bgcolor=CLEAR["paper_bgcolor"],
        plot_bgcolor="rgba(128,128,128,.07)",
        xaxis=bare | {"range": [low[0] - room, high[0] + room]},
        yaxis=bare | {"scaleanchor": "x", "range": [low[1] - room, high[1] + room]},
    )
    return figure


def _apart(points: np.ndarray, names: Sequence[str]) -> list[bool]:
    """Which points can carry their name: the loneliest first, as long as no two names and points touch."""
    spread = np.ptp(points, axis=0).max() or 1.0
    away = np.abs(points[:, None] - points) / spread
    lonely = np.argsort(
        -np.partition(np.hypot(*away.transpose(2, 0, 1)), min(1, len(points) - 1), axis=1)[:, min(1, len(points) - 1)]
    )
    kept: list[int] = []
    for at in lonely:
        if all(away[at, other, 0] > 0.13 or away[at, other, 1] > 0.06 for other in kept):
            kept.append(int(at))
    return [at in kept for at in range(len(names))]
