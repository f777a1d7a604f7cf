"""One head's attention as a Plotly heatmap: a row for each query, a column for each key."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Literal

import numpy as np
import plotly.graph_objects as go

from viz.palette import SEQUENTIAL
from viz.tokens import label

_MOST_TICKS = 40
_LONGEST_TICK = 18  # characters
_LINE = 34  # pixels of the title
_BAR_ROOM = 62  # pixels of the colour bar with its text, above the picture
_TICK_ROOM = 110  # pixels of tick text and axis title below it
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


def heatmap(
    queries: Sequence[Any],
    keys: Sequence[Any],
    weights: np.ndarray,
    title: str = "",
    unit: str = "attention",
    scale: Literal["fixed", "own"] = "fixed",
) -> go.Figure:
    """The weights [query, key] of one head, each in [0, 1], drawn in per cent, rounded to 0.0001 %.

    A row is what the query looks from, downwards; a column is the key that it looks to. The colours (cividis) run from 0 to
    100 %, so that heads can be compared, or with `scale="own"` to the largest weight here. Pointing at a cell says
    `from “ dog” (5) to “ the” (3): 12.3 %`. Queries and keys are tokens (anything with a `.text`) or strings, shown as text
    whatever they hold. Raises ValueError where the weights do not fit the tokens.
    """
    weights = np.asarray(weights)
    if weights.shape != (len(queries), len(keys)) or weights.size == 0:
        raise ValueError(f"Weights of shape {weights.shape} do not fit {len(queries)} queries and {len(keys)} keys.")
    percent = (100 * weights.astype(np.float64)).round(4).astype(np.float32)
    top = 100.0 if scale == "fixed" else float(np.nanmax(percent, initial=0.0)) or 100.0
    rows, columns = weights.shape
    above = _BAR_ROOM + (_LINE if title else 0)
    side = min(max(240, 120 + 34 * max(rows, columns)), 420) if max(rows, columns) <= 40 else 560
    height = above + side + _TICK_ROOM
    figure = go.Figure(
        go.Heatmap(
            x=_names(keys),
            y=_names(queries),
            z=percent,
            zmin=0,
            zmax=top,
            colorscale=SEQUENTIAL,
            colorbar=_BAR | {"title": {"text": escape_plotly(unit), "side": "top"}, "y": 1 - (above - _BAR_ROOM) / height},
            hovertemplate="from %{y} to %{x}: %{z:.3r} %<extra></extra>",
        )
    )
    figure.update_layout(
        title={"text": escape_plotly(title), "x": 0, "y": 1, "yref": "container", "yanchor": "top"} if title else None,
        height=height,
        margin={"l": 10, "r": 10, "t": above, "b": 10},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        xaxis={"title": {"text": "to (key)"}, "tickangle": -60 if columns > 6 else 0, **_axis(keys)},
        yaxis={"title": {"text": "from (query)"}, "autorange": "reversed", **_axis(queries)},
    )
    if max(rows, columns) <= 4 * min(rows, columns):  # square cells, unless they would make a thread of the picture
        figure.update_xaxes(constrain="domain", constraintoward="left")
        figure.update_yaxes(constrain="domain", constraintoward="top", scaleanchor="x", scaleratio=1)
    return figure


def escape_plotly(text: str) -> str:
    """Text that Plotly shows as it is: its labels read a little HTML, and LaTeX between dollars where a page has MathJax."""
    return escape(text, quote=False).replace("$", "&#36;").encode("utf-8", "replace").decode()


def _text(token: Any) -> str:
    return token if isinstance(token, str) else token.text


def _names(tokens: Sequence[Any]) -> list[str]:
    """What the hover calls each token; the position makes it unique, as the categories of an axis must be."""
    return [f"“{escape_plotly(_visible(_text(token)))}” ({i})" for i, token in enumerate(tokens)]


def _visible(text: str) -> str:
    return " " * (len(text) - len(text.lstrip(" "))) + label(text.lstrip(" ")) if text.strip(" ") else label(text)


def _axis(tokens: Sequence[Any]) -> dict[str, Any]:
    """Tick text for every token, or for every so many where they would run into one another."""
    step = -(-len(tokens) // _MOST_TICKS)
    shown = range(0, len(tokens), step)
    short = [label(_text(tokens[i])) for i in shown]
    short = [text if len(text) <= _LONGEST_TICK else text[: _LONGEST_TICK - 1] + "…" for text in short]
    return {
        "type": "category",
        "tickmode": "array",
        "tickvals": list(shown),
        "ticktext": [escape_plotly(text) for text in short],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
    }
