"""Curves of a probability as tokens are removed or added: a main curve, others behind it, and random orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, GREY, escape_plotly

_CHOSEN, _RIVAL = "#d0661a", "#3d7fc4"  # these are in sight on a light and on a dark page
_RANGE = "rgba(128,136,150,.24)"
_MANY = 60  # points; the marks of more are small


def curves(
    counts: Sequence[int] | np.ndarray,
    chosen: tuple[str, Sequence[float] | np.ndarray],
    others: Mapping[str, Sequence[float] | np.ndarray] | None = None,
    random: Sequence[Sequence[float] | np.ndarray] = (),
    steps: Sequence[str] = (),
    title: str = "",
    rival: tuple[str, Sequence[float] | np.ndarray] | None = None,
    across: str = "tokens taken away",
) -> go.Figure:
    """Draw probabilities in 0..1, in per cent, over the share of tokens that have been removed or added.

    counts: [point], from 0 to all. chosen: a name and its probabilities [point]; others: more of them, drawn thin. random: of
    random orders [order, point], drawn as their median and their range, point by point. steps: [point], the token that was last
    removed or added in the chosen order, for the hover. rival: a second name and its probabilities, in a colour of its own.
    Errors: ValueError where an argument has another length than `counts`.
    """
    name, values = chosen
    lines = {name: values, **(others or {}), **dict([rival] if rival else [])}
    wrong = [name for name, each in lines.items() if len(each) != len(counts)]
    if wrong or any(len(each) != len(counts) for each in random) or (steps and len(steps) != len(counts)):
        raise ValueError(f"There are {len(counts)} points, and something has another number of values{_of(wrong)}.")
    x = 100 * np.asarray(counts) / max(1, counts[-1])
    places = [f"{count} of {counts[-1]}" for count in counts]
    figure = go.Figure()
    if len(random):
        _draw_random(figure, x, 100 * np.asarray(random, dtype=np.float64), places)
    _draw_others(figure, x, others or {}, places)
    if rival:
        figure.add_scatter(
            x=x,
            y=100 * np.asarray(rival[1], dtype=np.float64),
            name=escape_plotly(rival[0]),
            text=places,
            mode="lines",
            line={"color": _RIVAL, "width": 3},
            hovertemplate=_hover(rival[0]),
        )
    figure.add_scatter(
        x=x,
        y=100 * np.asarray(values, dtype=np.float64),
        name=escape_plotly(name),
        text=places,
        mode="lines+markers",
        line={"color": _CHOSEN, "width": 3},
        marker={"size": 6 if len(counts) <= _MANY else 3},
        customdata=[escape_plotly(step) for step in steps] if steps else None,
        hovertemplate=_hover(name, "<br>%{customdata}" if steps else ""),
    )
    figure.update_layout(
        title={"text": escape_plotly(title), "x": 0, "y": 0.98, "yanchor": "top", "font": {"size": 15}} if title else None,
        height=338 if title else 300,
        margin={"l": 8, "r": 8, "t": 84 if title else 10, "b": 8},
        **CLEAR,
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom", "traceorder": "reversed"},
        xaxis={"title": {"text": escape_plotly(across)}, "ticksuffix": " %", "range": [-2, 102], "automargin": True},
        yaxis={"title": {"text": "probability"}, "ticksuffix": " %", "rangemode": "tozero", "automargin": True},
    )
    return figure


def _draw_others(figure: go.Figure, x: np.ndarray, others: Mapping[str, Any], places: list[str]) -> None:
    """Draw thin lines, with one line in the legend for all of them."""
    thin = {"color": GREY, "width": 1}
    if others:
        figure.add_scatter(x=[None], y=[None], name="other methods", mode="lines", line=thin)
    for other, each in others.items():
        figure.add_scatter(
            x=x,
            y=100 * np.asarray(each),
            name=escape_plotly(other),
            text=places,
            mode="lines",
            line=thin,
            opacity=0.75,
            hovertemplate=_hover(other),
            showlegend=False,
        )


def _draw_random(figure: go.Figure, x: np.ndarray, by_luck: np.ndarray, places: list[str]) -> None:
    """Draw the median and the range of random orders [order, point], in per cent."""
    low, high = by_luck.min(0), by_luck.max(0)
    name_of = f"median of {len(by_luck)} random orders"
    quiet = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    figure.add_scatter(x=x, y=low, showlegend=False, **quiet)
    figure.add_scatter(x=x, y=high, name="their range", fill="tonexty", fillcolor=_RANGE, **quiet)
    dashed = {"color": GREY, "width": 2, "dash": "dash"}
    figure.add_scatter(
        x=x, y=np.median(by_luck, 0), name=name_of, text=places, mode="lines", line=dashed, hovertemplate=_hover(name_of)
    )


def _hover(name: str, more: str = "") -> str:
    called = escape_plotly(name).replace("%", "&#37;")  # %{…} would be a place of the template
    return f"{called}: %{{y:.3r}} % at %{{text}}{more}<extra></extra>"


def _of(names: list[str]) -> str:
    return f" (such as {names[0]})" if names else ""
