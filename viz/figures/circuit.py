"""Plots a circuit as a graph: layers upward, a symbol for each part, a line for each edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, GREY, PLATE, escape_plotly
from viz.numbers import signed

MOST = 40  # lines that are drawn at the most, the widest
FAINTEST = 0.01  # share of the behaviour below which no line is drawn
FOR, AGAINST = "#d6404a", "#3d7fc4"  # red and blue of the boards, in sight on a light and on a dark page
_WIDEST = 9  # pixels
_ROW, _AROUND = 60, 84  # pixels of a row, and of what is above and below all
_ASIDE = 0.022  # of the width, by which each second row stands aside, so that lines do not lie on each other
NEAR = 0.03  # of the width: a line that comes as near to another part seems to end there


@dataclass(frozen=True)
class Spot:
    """A part and its place. height: of its row, 0 the lowest, with gaps allowed; across: from 0 to 1; row: the name of its row;
    label: the text beside it; lost: the share of the behaviour that is lost without it."""

    name: str
    height: int
    across: float
    row: str
    label: str = ""
    lost: float = 0.0


Line = tuple[int, int, float]  # from a part to another, or to the target, which is the number after the last; its share


def circuit(
    spots: Sequence[Spot],
    target: str,
    edges: np.ndarray | None = None,
    direct: np.ndarray | None = None,
    most: int = MOST,
    always: Sequence[tuple[int, int]] = (),
) -> go.Figure:
    """Draw the parts of a circuit with Plotly; those without a label are squares.

    target: the name of the target at the top. edges [from, to], direct [from]: the share of the behaviour that goes from one part
    to another, or straight to the target: red for it, blue against it, the line as wide as the share; NaN: no line. most, always:
    as of `drawn_lines`. Raises ValueError where edges is not square in the spots.
    """
    count = len(spots)
    if edges is not None and edges.shape != (count, count):
        raise ValueError(f"Edges of shape {list(edges.shape)} for {count} parts.")
    heights = {height: row for row, height in enumerate(sorted({spot.height for spot in spots}))}
    places = [(spot.across + _ASIDE * (heights[spot.height] % 2), heights[spot.height]) for spot in spots]
    places.append((0.5, len(heights)))
    names = [*(escape_plotly(spot.name) for spot in spots), escape_plotly(target)]
    figure = go.Figure()
    _draw_lines(figure, places, names, drawn_lines(edges, direct, most, always))
    figure.add_scatter(
        x=[x for x, _ in places[:-1]],
        y=[y for _, y in places[:-1]],
        mode="markers",
        hovertemplate="%{customdata}<extra></extra>",
        customdata=[f"{name}: without it {signed(spot.lost)} goes" for name, spot in zip(names, spots, strict=False)],
        marker={"size": 14, "color": GREY, "symbol": ["circle" if spot.label else "square" for spot in spots]},
    )
    figure.add_scatter(
        x=[0.5],
        y=[len(heights)],
        mode="markers+text",
        text=[names[-1]],
        textposition="top center",
        hoverinfo="skip",
        marker={"size": 13, "symbol": "diamond", "color": GREY},
        textfont={"size": 13},
    )
    for (x, y), spot in zip(places, spots, strict=False):  # a ground of their own keeps lines from crossing them
        if spot.label:
            figure.add_annotation(
                x=x,
                y=y,
                xshift=11,
                text=escape_plotly(spot.label),
                showarrow=False,
                xanchor="left",
                borderpad=1,
                **PLATE,
            )
    bare = {"showgrid": False, "zeroline": False, "title": None, "fixedrange": True, "ticks": ""}
    rows = {heights[spot.height]: escape_plotly(spot.row) for spot in spots}
    figure.update_layout(
        height=_AROUND + _ROW * (len(heights) + 1),
        margin={"l": 8, "r": 8, "t": 30, "b": 10},
        showlegend=False,
        **CLEAR,
        xaxis=bare | {"showticklabels": False, "range": [-0.05, 1.1]},
        yaxis=bare
        | {"tickvals": list(rows), "ticktext": list(rows.values()), "automargin": True, "range": [-0.5, len(heights) + 0.5]},
    )
    return figure


def all_lines(edges: np.ndarray | None, direct: np.ndarray | None) -> list[Line]:
    """Return all lines that are not too faint to be drawn, the widest first."""
    last = len(edges) if edges is not None else 0 if direct is None else len(direct)
    lines = [(start, to, float(edges[start, to])) for start, to in np.ndindex(last, last)] if edges is not None else []
    lines += [(start, last, float(share)) for start, share in enumerate(() if direct is None else direct)]
    return sorted((line for line in lines if abs(line[2]) >= FAINTEST), key=lambda line: -abs(line[2]))


def drawn_lines(
    edges: np.ndarray | None, direct: np.ndarray | None, most: int = MOST, always: Sequence[tuple[int, int]] = ()
) -> list[Line]:
    """Return the widest lines, `most` of them, and those of `always`, from and to; the widest first."""
    lines = all_lines(edges, direct)
    return [line for i, line in enumerate(lines) if i < most or line[:2] in always]


def _draw_lines(
    figure: go.Figure,
    places: Sequence[tuple[float, int]],
    names: Sequence[str],
    lines: Sequence[Line],
) -> None:
    for start, to, share in reversed(lines):
        (a, b), (c, d) = places[start], places[to]
        x, y = middle(places, start, to)
        line = {"width": 0.8 + _WIDEST * abs(share / lines[0][2]), "color": FOR if share > 0 else AGAINST}
        figure.add_scatter(x=[a, x, c], y=[b, y, d], mode="lines", line=line | {"shape": "spline"}, opacity=0.6, hoverinfo="skip")
        figure.add_scatter(  # what is pointed at
            x=[a + 0.8 * (x - a)],
            y=[b + 0.8 * (y - b)],
            mode="markers",
            marker={"size": 12, "opacity": 0},
            text=[f"{names[start]} to {names[to]}: {signed(share)}"],
            hovertemplate="%{text}<extra></extra>",
        )


def middle(places: Sequence[tuple[float, int]], start: int, to: int) -> tuple[float, float]:
    """Return the middle of a line, moved aside where the line would run through another part and seem to belong to it."""
    (a, b), (c, d) = places[start], places[to]
    meets = any(abs(a + (c - a) * (y - b) / (d - b) - x) < NEAR for x, y in places if b < y < d)
    return (a + c) / 2 - 2 * NEAR * meets, (b + d) / 2  # labels stand at the right
