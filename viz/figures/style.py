"""The common style of all Plotly figures: transparent backgrounds, the colour bar above, and the spelling of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.palette import DARK, DIVERGING, LIGHT, SEQUENTIAL, sequential
from viz.tokens import label, row_names
from viz.views.model_view.shrink import edges

CLEAR = {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}
GREY = "#8a8f99"  # in sight on a light and on a dark page
PLATE = {"bgcolor": "rgba(255,255,255,.8)", "font": {"color": LIGHT["ink"]}}  # below words that lines may run through
_PLATE_IN_DARK = {"bgcolor": "rgba(18,21,27,.8)", "font": {"color": DARK["ink"]}}
_DIVERGING_IN_DARK = [[0, "#6fb4f2"], [0.5, DARK["card"]], [1, "#f2856d"]]  # dark at zero, as it is white there on a light page
MOST_TICKS, MOST_NARROW = 40, 18  # tokens named at a side, and on a telephone
LONGEST = 18  # characters
TITLE_ROOM = 34  # pixels of the title
BAR_ROOM = 62  # pixels of the colour bar with its text, above the picture
TICK_ROOM = 110  # pixels of tick text and axis title below it
NARROW = 270  # pixels across a heatmap on a telephone
SMALL = 80  # and the least that it is high
SIDE = 256  # the most cells a side of one heatmap: more than there are pixels for, and megabytes at every key press
GRID_SIDE = 64  # the most cells a side of each heatmap in a grid
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
FROM, TO, CHOOSING = "from (query)", "to (key)", "from (query), choosing"  # a row of cross-attention is named by what it chooses
# An axis of a heatmap in a grid: what stands where is said on hover.
BARE = {"type": "category", "showticklabels": False, "showgrid": False, "zeroline": False, "ticks": "", "constrain": "domain"}


def on_page(figure: go.Figure, dark: bool, touched: bool = False, narrow: bool = False) -> go.Figure:
    """Return the figure for a page: scales and words in the colours of the light or dark page; on a touch screen, a finger on it
    scrolls the page; on a page as narrow as a phone, squares have no empty space below."""
    light, night = (sequential(theme["accent"]) for theme in (LIGHT, DARK))
    for place in (figure.layout.coloraxis, *figure.select_traces({"type": "heatmap"})):
        if place.colorscale in (SEQUENTIAL, light, night):
            place.colorscale = night if dark else light
        elif dark and place.colorscale == go.Heatmap(colorscale=DIVERGING).colorscale:
            place.colorscale = _DIVERGING_IN_DARK
    for words in figure.layout.annotations:
        if dark and words.bgcolor == PLATE["bgcolor"]:
            words.update(_PLATE_IN_DARK)
    if touched:
        figure.layout.dragmode = False
    return narrowed(figure) if narrow and len(figure.data) == 1 else figure


def narrowed(figure: go.Figure) -> go.Figure:
    """Return a heatmap as high as its squares are on a phone; any other figure unchanged."""
    if figure.layout.yaxis.scaleanchor == "x" and figure.data[0].type == "heatmap":
        rows, columns = np.shape(figure.data[0].z)
        names = 0 if figure.layout.xaxis.side == "top" else TICK_ROOM  # else they are in the margin already
        before, above = figure.layout.height, figure.layout.margin.t + names
        figure.layout.height = min(before, above + max(SMALL, round(NARROW * rows / columns)))
        bar = figure.data[0].colorbar  # stays as far from the top
        bar.y = 1 - (1 - bar.y) * before / figure.layout.height
        for side in (figure.layout.xaxis, figure.layout.yaxis):
            step = -(-len(side.tickvals) // MOST_NARROW)
            side.update(tickvals=side.tickvals[::step], ticktext=side.ticktext[::step])
    return figure


def bar(unit: str, title: str, height: int) -> dict[str, Any]:
    """Return the colour bar at the top of a picture, below its title."""
    return _BAR | {"title": {"text": escape_plotly(unit), "side": "top"}, "y": 1 - (TITLE_ROOM if title else 0) / height}


def look(title: str, height: int) -> dict[str, Any]:
    """Return the layout of a picture of this height, with its title at the top left."""
    return {
        "title": {"text": escape_plotly(title), "x": 0, "y": 1, "yref": "container", "yanchor": "top"} if title else None,
        "height": height,
        **CLEAR,
    }


def in_percent(weights: np.ndarray) -> np.ndarray:
    """Convert weights in [0, 1] to per cent: float32, rounded to 0.0001."""
    return (100 * weights.astype(np.float64)).round(4).astype(np.float32)


def span(size: int, side: int = GRID_SIDE) -> str:
    """Return the number of tokens that a cell covers."""
    lengths = np.diff(edges(size, side))
    return str(lengths[0]) if lengths.min() == lengths.max() else f"{lengths.min()} or {lengths.max()}"


def spans(tokens: Sequence[Any], first: int = 0, side: int = GRID_SIDE) -> list[str]:
    """Return the name of each row or column in the hover: a token, or the first and the last of those that it covers."""
    names, cuts = _names(tokens, first), edges(len(tokens), side).tolist()
    return [names[start] if end == start + 1 else f"{names[start]} … {names[end - 1]}" for start, end in pairwise(cuts)]


def escape_plotly(text: str) -> str:
    """Escape a text for Plotly, whose labels read a little HTML, and LaTeX between dollars where a page has MathJax."""
    return escape(text, quote=False).replace("$", "&#36;").encode("utf-8", "replace").decode()


def _text(token: Any) -> str:
    return token if isinstance(token, str) else token.text


def _names(tokens: Sequence[Any], first: int = 0) -> list[str]:
    """Return the name of each token in the hover; the position makes it unique, as the categories of an axis must be."""
    if rows := row_names(tokens):
        return [f"{escape_plotly(name)} (row {i})" for i, name in enumerate(rows, first)]
    return [f"“{escape_plotly(_visible(_text(token)))}” ({i})" for i, token in enumerate(tokens, first)]


def where(queries: Sequence[Any]) -> str:
    """Return the words of the hover for the place of a cell."""
    return "from %{y} to %{x}" if row_names(queries) is None else "%{y}, to %{x}"


def _visible(text: str) -> str:
    return " " * (len(text) - len(text.lstrip(" "))) + label(text.lstrip(" ")) if text.strip(" ") else label(text)


def short(text: str) -> str:
    """Shorten a text to fit a label."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def axis(tokens: Sequence[Any]) -> dict[str, Any]:
    """Return an axis with a tick for every token, or for every few where labels would overlap; a cell has its first token's."""
    first = edges(len(tokens), SIDE)[:-1].tolist()
    ticks = range(0, len(first), -(-len(first) // MOST_TICKS))
    firsts = [first[tick] for tick in ticks]
    return {
        "type": "category",
        "tickmode": "array",
        "tickvals": list(ticks),
        "ticktext": [escape_plotly(short(label(_text(tokens[i])))) for i in firsts],
        "showgrid": False,
        "zeroline": False,
        "automargin": True,
        "ticks": "",
    }
