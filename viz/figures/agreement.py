"""Agreement of several rankings of the same items: a square of rank correlations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, GREY, escape_plotly
from viz.palette import DIVERGING


def agreeing(names: Sequence[str], ranks: np.ndarray) -> go.Figure:
    """Draw rank correlations [name, name] from −1 to 1, as numbers and colours: red where two agree, blue where they are opposed.

    NaN cells (no correlation) stay empty. Raises ValueError where the numbers do not fit the names.
    """
    count = len(names)
    if ranks.shape != (count, count):
        raise ValueError(f"Correlations of shape {list(ranks.shape)} for {count} names.")
    texts = [["" if np.isnan(rank) else f"{rank:.2f}".replace("-", "−") for rank in row] for row in ranks]
    labels = [escape_plotly(name) for name in names]
    figure = go.Figure(
        go.Heatmap(
            x=labels,
            y=labels,
            z=np.round(ranks, 4),
            zmin=-1,
            zmax=1,
            colorscale=DIVERGING,
            text=texts,
            texttemplate="%{text}",
            hovertemplate="%{y} and %{x}: %{text}<extra></extra>",
            hoverongaps=False,
            xgap=2,
            ygap=2,
            showscale=False,
        )
    )
    rows, columns = np.nonzero(~np.isnan(ranks))
    figure.add_scatter(  # a heatmap cannot be clicked in Streamlit
        x=[labels[column] for column in columns],
        y=[labels[row] for row in rows],
        text=[texts[row][column] for row, column in zip(rows, columns, strict=True)],
        mode="markers",
        marker={"symbol": "square", "size": 34, "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        hovertemplate="%{y} and %{x}: %{text}<extra></extra>",
        showlegend=False,
    )
    figure.update_layout(**CLEAR, height=130 + 40 * count, margin={"l": 8, "r": 8, "t": 8, "b": 8}, font={"color": GREY})
    figure.update_yaxes(range=[count - 0.5, -0.5], automargin=True, showgrid=False, zeroline=False, ticks="")
    figure.update_xaxes(range=[-0.5, count - 0.5], automargin=True, showgrid=False, zeroline=False, ticks="", tickangle=-45)
    return figure
