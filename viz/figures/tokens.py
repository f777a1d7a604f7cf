"""Token counts of the same texts by two tokenizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from viz.figures.style import CLEAR, escape_plotly
from viz.palette import HEADS

_COLOURS = ("#d0661a", HEADS[5])  # both are in sight on a light and on a dark page
_LINE, _REST = 46, 76  # pixels of a text, and of legend and axis


def token_counts(texts: Sequence[str], counts: Mapping[str, Sequence[int]]) -> go.Figure:
    """Draw bars of each tokenizer's number of tokens [text], by its name, the texts from top to bottom. Errors: ValueError where
    a tokenizer does not have a number for each text."""
    if wrong := [name for name, each in counts.items() if len(each) != len(texts)]:
        raise ValueError(f"There are {len(texts)} texts, and {wrong[0]} has another number of counts.")
    figure = go.Figure()
    for (name, each), colour in zip(counts.items(), _COLOURS, strict=False):
        figure.add_bar(
            x=list(each),
            y=[escape_plotly(text) for text in texts],
            name=escape_plotly(name),
            orientation="h",
            text=[str(value) for value in each],
            textposition="outside",
            cliponaxis=False,
            marker={"color": colour},
            hovertemplate=f"%{{y}}: %{{x}} tokens by {escape_plotly(name)}<extra></extra>",
        )
    figure.update_layout(
        **CLEAR,
        height=_LINE * len(texts) + _REST,
        margin={"l": 8, "r": 24, "t": 8, "b": 8},
        barmode="group",
        bargap=0.3,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        xaxis={"title": {"text": "tokens"}, "rangemode": "tozero", "automargin": True},
        yaxis={"autorange": "reversed", "automargin": True, "ticks": ""},
    )
    return figure
