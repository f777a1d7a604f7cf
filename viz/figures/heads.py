"""Plots the heads of all layers as points, with similar heads close together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR
from viz.palette import DEPTH

_ROOM = 0.12  # around the points, as a share of how far they reach
_TOP, _SIDE = 58, 6  # pixels of the margins
_WIDTHS = (330, 400, 480, 560, 700, 900)  # pixels of the picture, from a phone's on
_POINT = 8  # pixels from the middle of a point to its name, and in which no other name stands
_NAMED = 100  # of more points, the loneliest have names
_LETTER, _TEXT = 6.2, 13  # pixels of a letter's width, and of a name's height
_AROUND = {  # where a name can stand, in Plotly's words, and as steps to the right and up
    "top center": (0, 1),
    "bottom center": (0, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
    "top right": (1, 1),
    "top left": (-1, 1),
    "bottom right": (1, -1),
    "bottom left": (-1, -1),
}


def head_scatter(
    points: np.ndarray, layers: int, chosen: tuple[int, int] | None = None, height: int = 420, numbers: Sequence[int] = ()
) -> go.Figure:
    """Draw the heads of all layers as points [layers · heads, 2], one colour for each layer; point i is head i % heads of layer i
    // heads.

    numbers: the layers' numbers, if they are not 0, 1, …

    Raises ValueError where the number of points is no multiple of the heads.
    """
    points = np.asarray(points)
    if points.ndim != 2 or points.shape[1] != 2 or layers < 1 or len(points) % layers or not len(points):
        raise ValueError(f"Points of shape {list(points.shape)}: give [heads of all layers, 2] for {layers} layers.")
    heads = len(points) // layers
    each = np.stack(np.divmod(np.arange(len(points)), heads), axis=1)
    numbers = numbers or range(layers)
    where = _label_places(points, names := [f"L{numbers[layer]} H{head}" for layer, head in each], height)
    figure = go.Figure(
        go.Scattergl(
            x=points[:, 0],
            y=points[:, 1],
            text=[name if place else "" for name, place in zip(names, where, strict=True)],
            hovertext=names,
            mode="markers+text",
            textposition=[place or "top center" for place in where],
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
                    **_ticks(numbers),
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
    low, high, room = points.min(0), points.max(0), _ROOM * np.ptp(points, axis=0).max() or 1.0
    figure.update_layout(
        height=height,
        margin={"l": _SIDE, "r": _SIDE, "t": _TOP, "b": _SIDE},
        showlegend=False,
        paper_bgcolor=CLEAR["paper_bgcolor"],
        plot_bgcolor="rgba(128,128,128,.07)",
        xaxis=bare | {"range": [low[0] - room, high[0] + room]},
        yaxis=bare | {"scaleanchor": "x", "range": [low[1] - room, high[1] + room]},
    )
    return figure


def _ticks(numbers: Sequence[int]) -> dict[str, list]:
    """Return about six tick marks for a scale of layers."""
    every = max(1, len(numbers) // 6)
    return {"tickvals": list(range(0, len(numbers), every)), "ticktext": [str(number) for number in numbers[::every]]}


def _label_places(points: np.ndarray, names: Sequence[str], height: int) -> list[str]:
    """Return Plotly's position for the name of each point; "" where the name would touch a point or another name at some width of
    the page. The most isolated points are placed first."""
    spread = np.ptp(points, axis=0)
    room = _ROOM * (spread.max() or 1.0)
    scales = [min(width / (spread[0] + 2 * room), (height - _TOP - _SIDE) / (spread[1] + 2 * room)) for width in _WIDTHS]
    pixels, low, high = (np.multiply.outer(scales, place) for place in (points, points.min(0) - room, points.max(0) + room))
    away = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    lonely = np.argsort(-np.partition(away, min(1, len(points) - 1), axis=1)[:, min(1, len(points) - 1)])
    placed: list[str] = [""] * len(points)
    boxes: list[tuple[np.ndarray, np.ndarray]] = []  # their lower left and upper right corners [width, 2]
    for at in lonely[:_NAMED]:
        size = np.array([_LETTER * len(names[at]), _TEXT])
        for where, side in _AROUND.items():
            start = pixels[:, at] + np.multiply(side, _POINT) + (np.array(side) - 1) * size / 2
            end = start + size
            nearest = np.clip(pixels, start[:, None], end[:, None])  # of the name, the place nearest to each point
            free = (start >= low).all() and (end <= high).all() and (np.hypot(*(pixels - nearest).T) >= _POINT - 0.5).all()
            if free and not any(((start < above) & (below < end)).all(1).any() for below, above in boxes):
                placed[at] = where
                boxes.append((start, end))
                break
    return placed
