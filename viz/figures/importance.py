"""The worth of heads, measured and by slope, and the loss of a model as heads are removed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, GREY, escape_plotly
from viz.palette import DEPTH

_RANGE = "rgba(128,136,150,.28)"
_FAR = 2.5  # times as long as the next: such a bar is cut
_LINE = 15  # pixels of a number above a bar
_OVER = 1.15  # of the longest other bar, that a bar which is cut has
_NAMED = 8  # points that are named: those that stand out most
_ROOM = 0.16, 0.07  # of the width and the height, that a name takes on a telephone


def importance_scatter(
    names: Sequence[str],
    measured: np.ndarray,
    ends: np.ndarray,
    slopes: np.ndarray,
    layers: Sequence[int],
    notes: Sequence[str],
    chosen: int | None = None,
) -> go.Figure:
    """Plot each head as a point: the estimate from its gradient across, the measured effect up, both in nats a token.

    measured, slopes: [head]; ends: [2, head], the range of the measurements, NaN where there is none; layers: of each head, for
    its colour; notes: added to the hover. chosen: the head with a ring around it. Raises ValueError where the numbers do not fit.
    """
    count = len(names)
    if measured.shape != (count,) or slopes.shape != (count,) or ends.shape != (2, count):
        raise ValueError(f"{count} names need as many numbers, and two ends for each.")
    far = _named_points(measured, ends, slopes)
    known = np.isfinite(ends)
    bars = np.where(known, np.abs(ends - measured), 0)
    ranges = [f"{low:.3f} to {high:.3f}".replace("-", "−") if np.isfinite(low) else "one text" for low, high in ends.T]
    hover = "%{hovertext}: %{y:.4f} measured (%{customdata[0]}), %{x:.4f} by its slope<br>%{customdata[1]}<extra></extra>"
    figure = go.Figure(
        go.Scatter(
            x=slopes,
            y=measured,
            mode="markers+text",
            cliponaxis=False,
            hovertext=[escape_plotly(name) for name in names],
            text=["\u00a0" * 3 + name if i in far else "" for i, name in enumerate(names)],
            textposition="middle right",
            textfont={"size": 10},
            customdata=[[ends_text, escape_plotly(note)] for ends_text, note in zip(ranges, notes, strict=True)],
            error_y={
                "type": "data",
                "symmetric": False,
                "array": bars[1],
                "arrayminus": bars[0],
                "color": GREY,
                "thickness": 1,
                "width": 0,
            },
            marker=_marker(layers),
            hovertemplate=hover,
        )
    )
    if chosen is not None:
        ring = {"size": 20, "color": "rgba(0,0,0,0)", "line": {"width": 2.5, "color": "#d9660f"}}
        figure.add_scatter(x=[slopes[chosen]], y=[measured[chosen]], mode="markers", marker=ring, hoverinfo="skip")
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    figure.update_layout(
        **CLEAR,
        height=400,
        margin={"l": 8, "r": 44, "t": 58, "b": 8},
        showlegend=False,
        xaxis={"title": {"text": "by its slope (nats a token)"}, "automargin": True, "zeroline": False},
        yaxis={"title": {"text": "rise of the loss without it (nats a token)"}, "automargin": True, "zeroline": False},
    )
    return figure


def largest_bar(values: np.ndarray) -> float:
    """Return the size at which the axis of bars ends: a little above the largest, or where few are far larger than the others,
    above the largest of these, so that a single one does not make all others look alike."""
    sizes = np.sort(np.abs(values[np.isfinite(values)]))[::-1]
    if not len(sizes) or not sizes[0]:
        return 1.0
    few = max(1, len(sizes) // 16)
    cut = next((i for i in range(min(few, len(sizes) - 1), 0, -1) if sizes[i - 1] > _FAR * sizes[i] > 0), 0)
    return float(sizes[cut])


def importance_bars(
    names: Sequence[str], values: np.ndarray, ends: np.ndarray, notes: Sequence[str], chosen: int | None = None
) -> go.Figure:
    """Plot a bar for each head, in nats a token, in the given order. A bar that is far longer than the others is cut, and has its
    number beside it.

    values: [head]; ends: [2, head], the range of each, NaN where there is none; notes: added to the hover. chosen: the head in
    the accent colour. Raises ValueError where the numbers do not fit.
    """
    if values.shape != (len(names),) or ends.shape != (2, len(names)) or len(notes) != len(names):
        raise ValueError(f"{len(names)} names need as many numbers and notes, and two ends for each.")
    end = largest_bar(values)
    cut = np.abs(values) > end
    edge = end * _OVER
    ranges = [f"{low:.3f} to {high:.3f}".replace("-", "−") if np.isfinite(low) else "one text" for low, high in ends.T]
    figure = go.Figure(
        go.Bar(
            x=[escape_plotly(name) for name in names],
            y=np.clip(values, -edge, edge),
            marker={"color": ["#d9660f" if place == chosen else GREY for place in range(len(names))]},
            customdata=[
                [f"{value:.4f}".replace("-", "−"), extent, escape_plotly(note)]
                for value, extent, note in zip(values, ranges, notes, strict=True)
            ],
            hovertemplate="%{x}: %{customdata[0]} (%{customdata[1]})<br>%{customdata[2]}<extra></extra>",
        )
    )
    figure.add_hline(y=0, line={"color": GREY, "width": 1})
    longer = np.flatnonzero(cut)
    for above, place in enumerate(longer[::-1]):  # one above the other, since neighbours have no room side by side
        sign = -1 if values[place] < 0 else 1
        figure.add_annotation(
            x=escape_plotly(names[place]),
            y=sign * edge,
            text=f"{'↓' if sign < 0 else '↑'} {values[place]:.2f}".replace("-", "−"),
            xanchor="right" if place > len(names) / 2 else "left",
            yanchor="top" if sign < 0 else "bottom",
            yshift=sign * _LINE * above,
            showarrow=False,
        )
    lowest = min(0.0, float(np.nanmin(values, initial=0.0)))
    figure.update_layout(
        **CLEAR,
        height=300,
        margin={"l": 8, "r": 8, "t": 8 + _LINE * (1 + len(longer)), "b": 8},
        showlegend=False,
        bargap=0.25,
        xaxis={"tickangle": -90, "tickfont": {"size": 10}, "automargin": True, "type": "category"},
        yaxis={
            "title": {"text": "rise of the loss without it (nats a token)"},
            "automargin": True,
            "range": [1.08 * max(lowest, -edge), 1.08 * (edge if cut.any() else end)],
        },
    )
    return figure


def _named_points(measured: np.ndarray, ends: np.ndarray, slopes: np.ndarray) -> list[int]:
    """Return the points that are named: of those that stand out most, those whose name would lie on no other point."""
    known = np.flatnonzero(np.isfinite(measured) & np.isfinite(slopes))
    if not len(known):
        return []
    width = float(np.ptp(slopes[known])) or 1.0
    height = float(np.ptp(np.append(ends[np.isfinite(ends)], measured[known]))) or 1.0

    def is_free(i: int) -> bool:
        across, up = (slopes[known] - slopes[i]) / width, np.abs(measured[known] - measured[i]) / height
        return not ((across >= 0) & (across < _ROOM[0]) & (up < _ROOM[1]) & (known != i)).any()

    strongest = known[np.argsort(-np.abs(measured[known]), kind="stable")][:_NAMED]
    return [i for i in strongest.tolist() if is_free(i)]


def _marker(layers: Sequence[int]) -> dict[str, Any]:
    """Return the look of the points: each in the colour of its layer, with the scale above the chart."""
    scale = {"x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom", "len": 180, "lenmode": "pixels", "thickness": 10}
    title = {"title": {"text": "layer", "side": "top"}, "orientation": "h", "outlinewidth": 0}
    edge = {"width": 1, "color": "rgba(128,128,128,.8)"}
    colorbar = scale | title | {"dtick": max(1, (max(layers) + 1) // 6)}
    return {"size": 9, "color": list(layers), "colorscale": DEPTH, "line": edge, "colorbar": colorbar}


def pruning_curves(
    counts: Sequence[int] | np.ndarray, orders: Mapping[str, np.ndarray], random: np.ndarray, saved: Mapping[str, Sequence[str]]
) -> go.Figure:
    """Draw the loss over the number of heads that are off, in each order; for random orders, their median and range.

    counts: [point]; orders: [point] each, nats a token; random: [order, point]; saved: the savings for the hover, [point]. Raises
    ValueError where an argument has another length than `counts`.
    """
    if any(len(each) != len(counts) for each in (*orders.values(), *random, *saved.values())):
        raise ValueError(f"There are {len(counts)} points, and something has another number of values.")
    figure, x = go.Figure(), np.asarray(counts)
    if len(random):
        quiet = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
        name = f"median of {len(random)} random orders"
        figure.add_scatter(x=x, y=random.min(0), showlegend=False, **quiet)
        figure.add_scatter(x=x, y=random.max(0), name="their range", fill="tonexty", fillcolor=_RANGE, **quiet)
        figure.add_scatter(
            x=x,
            y=np.median(random, 0),
            name=name,
            mode="lines",
            line={"color": GREY, "width": 2, "dash": "dash"},
            hovertemplate=f"{name}: %{{y:.3f}} nats a token without %{{x}} heads<extra></extra>",
        )
    for (name, values), colour, dash in zip(orders.items(), ("#d0661a", "#1f77a4"), ("solid", "dot"), strict=False):
        label = escape_plotly(name)
        figure.add_scatter(
            x=x,
            y=values,
            name=label,
            mode="lines+markers",
            line={"color": colour, "width": 2.5, "dash": dash},
            marker={"size": 6},
            customdata=[escape_plotly(text) for text in saved.get(name, [""] * len(x))],
            hovertemplate=f"{label}: %{{y:.3f}} nats a token without %{{x}} heads; %{{customdata}}<extra></extra>",
        )
    figure.update_layout(
        **CLEAR,
        height=340,
        margin={"l": 8, "r": 8, "t": 10, "b": 8},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "reversed"},
        xaxis={"title": {"text": "heads off"}, "automargin": True},
        yaxis={"title": {"text": "loss (nats a token)"}, "automargin": True},
    )
    return figure
