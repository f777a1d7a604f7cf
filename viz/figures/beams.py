"""A beam search as a tree: tokens from left to right, likelier candidates above."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from viz.figures.style import CLEAR, GREY, escape_plotly, short
from viz.tokens import named

_KEPT = "#d0661a"  # in sight on a light and on a dark page
MARKS = {"kept": ("circle", _KEPT), "answer": ("diamond", "#1f77a4"), "dropped": ("circle-open", GREY)}
NAMES = {"kept": "kept, to go on from", "answer": "a whole answer", "dropped": "dropped"}
SMALL = "<br><span style='font-size:10px'>{}</span>"
WINDOW = 6  # tokens that are shown at a time


@dataclass(frozen=True)
class Way:
    """A candidate continuation of a beam search. number: its own; parent: the number of the candidate that it continues, -1 for
    the text; text: its token; length: of its tokens so far; score: the sum of their log-probabilities in nats; fate: a key of
    MARKS."""

    number: int
    parent: int
    text: str
    length: int
    score: float
    fate: str


def beam_tree(ways: Sequence[Way], window: int = WINDOW, looked_at: Collection[int] = ()) -> go.Figure:
    """Draw the last `window` tokens of a search, each with its score. looked_at: numbers of the candidates that are highlighted.

    Errors: ValueError for an unknown fate.
    """
    if wrong := [way.fate for way in ways if way.fate not in MARKS]:
        raise ValueError(f"A way on is {', '.join(MARKS)}, not {wrong[0]!r}.")
    last = max((way.length for way in ways), default=0)
    latest = [way for way in ways if way.length > last - window]
    rows = _rows(latest)
    at = {way.number: (way.length, -rows[way.number]) for way in latest}
    figure = go.Figure()
    for fates, colour, width in ((("dropped",), GREY, 1), (("kept", "answer"), _KEPT, 2.5)):
        x, y = _edges([way for way in latest if way.fate in fates], at)
        line = {"color": colour, "width": width, "shape": "spline"}
        figure.add_scatter(x=x, y=y, mode="lines", line=line, hoverinfo="skip", showlegend=False, opacity=0.7)
    x, y = _edges([way for way in latest if way.number in looked_at], at)
    figure.add_scatter(x=x, y=y, mode="lines", line={"color": _KEPT, "width": 6}, hoverinfo="skip", showlegend=False)
    for fate, (symbol, colour) in MARKS.items():
        alike = [way for way in latest if way.fate == fate]
        figure.add_scatter(
            x=[at[way.number][0] for way in alike],
            y=[at[way.number][1] for way in alike],
            text=[f"{escape_plotly(short(named(way.text)))}{SMALL.format(_score(way, 2))}" for way in alike],
            customdata=[[_score(way, 3), NAMES[way.fate], escape_plotly(named(way.text))] for way in alike],
            name=NAMES[fate],
            mode="markers+text",
            marker={"symbol": symbol, "color": colour, "size": 9, "line": {"width": 1.5, "color": colour}},
            textposition="top center",
            textfont={"size": 12 if fate != "dropped" else 11, "color": GREY if fate == "dropped" else None},
            hovertemplate="“%{customdata[2]}”: %{customdata[0]} nats, %{customdata[1]}<extra></extra>",
            cliponaxis=False,
        )
    deepest = max(rows.values(), default=0)
    bare = {"showgrid": False, "zeroline": False}
    figure.update_layout(
        **CLEAR,
        height=90 + 56 * (deepest + 1),
        margin={"l": 8, "r": 8, "t": 24, "b": 8},
        xaxis={
            "title": {"text": "token"},
            "tickvals": [*range(max(1, last - window + 1), last + 1)],
            "range": [last - window + 0.4, last + 0.6],
        }
        | bare,
        yaxis={"visible": False, "range": [-deepest - 0.5, 0.9]},
        legend={"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
        hovermode="closest",
    )
    return figure


def _score(way: Way, digits: int) -> str:
    return f"{way.score:.{digits}f}".replace("-", "−")


def _rows(ways: Sequence[Way]) -> dict[int, int]:
    """Return the row of each candidate: the likeliest of its length at the top."""
    rows: dict[int, int] = {}
    for length in {way.length for way in ways}:
        column = sorted((way for way in ways if way.length == length), key=lambda way: -way.score)
        rows |= {way.number: row for row, way in enumerate(column)}
    return rows


def _edges(ways: Sequence[Way], at: dict[int, tuple[int, int]]) -> tuple[list, list]:
    """Draw a line from each candidate's parent to it; those of the first column come from the left."""
    x, y = [], []
    for way in ways:
        here = at[way.number]
        before = at.get(way.parent, (here[0] - 0.5, here[1] if way.parent >= 0 else 0))
        x += [before[0], here[0], None]
        y += [before[1], here[1], None]
    return x, y
