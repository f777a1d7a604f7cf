"""Singular values of a matrix, the largest first."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, escape_plotly
from viz.palette import LINES


def falling_values(values: np.ndarray, name: str = "", rank: int = 0, most: int = 64) -> go.Figure:
    """Draw singular values [direction], which fall, as shares of the largest, on a logarithmic scale.

    name: of the matrix; rank: the highest that was allowed, which a thin line marks, 0 for none. Only the first `most` are drawn.
    """
    drawn = np.asarray(values, dtype=np.float64)[:most]
    shares = drawn / drawn[0] if drawn.size and drawn[0] > 0 else drawn
    at = np.arange(1, len(shares) + 1)
    hover = "direction %{x}: %{y:.3g} of the largest<extra></extra>"
    figure = go.Figure(go.Scatter(x=at, y=shares, mode="lines+markers", line={"color": LINES[0]}, hovertemplate=hover))
    if rank:
        figure.add_vline(x=rank + 0.5, line={"dash": "dot", "width": 1.5}, annotation_text=f"rank {rank}")
    figure.update_layout(
        **CLEAR,
        height=240,
        margin={"l": 8, "r": 8, "t": 24, "b": 0},
        title={"text": escape_plotly(name), "font": {"size": 13}},
        xaxis={"title": {"text": f"direction, the largest first (of {len(values)})"}, "automargin": True},
        yaxis={
            "title": {"text": "singular value ÷ the largest"},
            "type": "log",
            "exponentformat": "power",
            "range": [-9, 0.3],
            "automargin": True,
        },
        showlegend=False,
    )
    return figure
