"""The recipes of this page's pictures: functions of a transformer's parts and sizes as literals, and of lengths of texts.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import cost
from analysis.encodings import Encoding, encoding
from analysis.scaling import scaling
from models.scratch.config import TransformerConfig
from pages.build import plan
from viz import View
from viz.figures import build
from viz.figures.heatmap import heatmap
from viz.figures.style import BAR_ROOM
from viz.views.architecture import architecture

SCORES = "self-attention: scores"
BENCH = {  # the pictures of why scores are divided by √d_head: unit, and columns of `scaling`
    "Largest weight of the softmax": ("share of the attention", {"q·k": "largest_plain", "q·k / √d_head": "largest_scaled"}),
    "Spread of q·k": ("standard deviation", {"measured": "spread", "√d_head": "expected"}),
    "Entropy of the softmax": ("nats", {"q·k": "entropy_plain", "q·k / √d_head": "entropy_scaled"}),
    "Slope of the softmax": ("size of the slope", {"q·k": "gradient_plain", "q·k / √d_head": "gradient_scaled"}),
}


def diagram(*, config: dict[str, Any], tokens: int, target: int, simple: bool) -> View:
    return architecture(columns(config, tokens, target, simple))


def columns(config: dict[str, Any], tokens: int, target: int, simple: bool) -> plan.Columns:
    return plan.columns(TransformerConfig(**config), tokens, target, plan.plain_stack if simple else None)


def crossing(*, config: dict[str, Any]) -> go.Figure:
    """Return a figure of the operations of attention and of all other parts, by the length of the text, with the context."""
    x, series = operations_by_length(config)
    mark = (f"the context: {config['context']:,} tokens", config["context"])
    return build.lines(x, series, "Where attention overtakes", "tokens", "operations", log_x=True, log_y=True, mark=mark)


def operations_by_length(config: dict[str, Any]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Return lengths, and at each the operations of the scores and of the parts that they are compared with."""
    transformer = TransformerConfig(**config)
    most = cost.FURTHEST if transformer.pattern in ("random", "bigbird") else 65_536
    lengths = np.unique(np.geomspace(16, most, 25).astype(int))
    series: dict[str, list[int]] = {
        SCORES: [],
        "all other parts together": [],
        "of these, the feed-forward": [],
    }
    for length in lengths:
        flops: Counter[str] = Counter()
        for part in cost.costs(transformer, int(length)):
            flops[part.part] += part.flops.value
        for name, value in zip(series, (flops[SCORES], flops.total() - flops[SCORES], flops["feed-forward"]), strict=True):
            series[name].append(value)
    return lengths, {name: np.array(values) for name, values in series.items()}


def mask(*, config: dict[str, Any], tokens: list[str]) -> go.Figure:
    """Return a figure of which tokens may see which; masked squares stay blank, as in every picture of attention."""
    visible = may_see(config, len(tokens))
    figure = heatmap(tokens, tokens, np.where(visible, 1.0, np.nan), title="Who may see whom")
    figure.update_traces(showscale=False, hovertemplate="from %{y} to %{x}: may see<extra></extra>")
    return figure.update_layout(margin_t=figure.layout.margin.t - BAR_ROOM, height=figure.layout.height - BAR_ROOM)


def may_see(config: dict[str, Any], count: int) -> np.ndarray:
    """Return whether a query may see a key: bool [query, key]."""
    from models.scratch import masks

    transformer = TransformerConfig(**config)
    mask = masks.mask(transformer, count, count, future=transformer.kind == "encoder")
    return np.ones((count, count), dtype=bool) if mask is None else mask.reshape(count, count).numpy()


def position_values(*, config: dict[str, Any], length: int) -> go.Figure:
    """Return a heatmap of the vector, rotation or bias that a scheme of positions gives each position."""
    positions = scheme(config, length)
    return build.encoding_heatmap(np.asarray(positions.values), positions.title, positions.across, positions.down)


def by_distance(*, config: dict[str, Any], length: int) -> go.Figure:
    positions = scheme(config, length)
    return build.lines(positions.distances, positions.by_distance, positions.says, "distance in tokens", positions.unit)


def wavelengths(*, config: dict[str, Any], length: int) -> go.Figure:
    waves = np.asarray(scheme(config, length).wavelengths)
    series = {"wavelength": waves}
    return build.lines(np.arange(len(waves)), series, "Tokens until it comes round", "pair of dimensions", "tokens", log_y=True)


def scheme(config: dict[str, Any], length: int) -> Encoding:
    """Return the vectors or rotations of a scheme of positions, and how much of them depends on the distance."""
    return encoding(TransformerConfig(**config), length)


def bench(*, title: str) -> go.Figure:
    """Return curves of scores with and without the division by √d_k."""
    table, (unit, series) = scaling(), BENCH[title]
    y = {name: table[column].to_numpy() for name, column in series.items()}
    return build.lines(
        table["d_k"].to_numpy(), y, title, "d_head, the numbers of a query", unit, log_x=True, log_y=title.startswith("Spread")
    )
