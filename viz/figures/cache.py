"""Keys and values that are kept while a text grows: a box for each token in each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz.figures.style import CLEAR, axis, escape_plotly
from viz.tokens import named

_SCALE = [[0, "rgba(128,136,150,.10)"], [0.5, "#7fa7c4"], [1, "#d0661a"]]


def cache_boxes(
    tokens: Sequence[Any], layers: int, each: int, dtype: str = "float32", fresh: int = 1, numbers: Sequence[int] = ()
) -> go.Figure:
    """Draw the key-value cache of the tokens read so far. each: numbers of one token in one layer, keys and values together;
    fresh: how many tokens, at the end, were read last; numbers: the layers' numbers, if they are not 0, 1, …"""
    count = len(tokens)
    values = np.full((layers, count), 0.5)
    values[:, max(0, count - fresh) :] = 1.0
    numbers, step = list(numbers) or list(range(layers)), max(1, layers // 6)
    names = [escape_plotly(named(token.text)) for token in tokens]
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=[str(place) for place in range(count)],
            zmin=0,
            zmax=1,
            colorscale=_SCALE,
            showscale=False,
            xgap=1,
            ygap=1,
            customdata=np.stack(np.broadcast_arrays(np.array(names, dtype=object), np.array(numbers)[:, None]), -1),
            hovertemplate="keys and values of “%{customdata[0]}” in layer %{customdata[1]}: "
            f"{each:,} numbers ({dtype})<extra></extra>",
        )
    )
    figure.update_layout(
        **CLEAR,
        height=70 + max(70, min(14 * layers, 300)) + 60,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        xaxis=axis(tokens) | {"title": {"text": "token that was read"}},
        yaxis={
            "title": {"text": "layer"},
            "tickvals": list(range(0, layers, step)),
            "ticktext": [str(number) for number in numbers[::step]],
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
        },
    )
    return figure
