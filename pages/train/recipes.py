"""How each picture of this page is made, of what was noted while a transformer learned.

Nobody can calculate that again without training once more, so a notebook carries these functions and the numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz import View, grid_view, model_view
from viz.figures.training import over_steps


def curves(*, names: list[str], total: int, at: int, options: dict[str, Any], **noted: np.ndarray) -> go.Figure:
    """Lines over the steps of a training. noted: of line i its steps, "x0", "x1", …, and its values, "y0", "y1", …"""
    series = {name: (noted[f"x{i}"].tolist(), noted[f"y{i}"].tolist()) for i, name in enumerate(names)}
    return over_steps(series, total, at, **options)


def thumbnails(*, chosen: tuple[int, int], notes: list[list[str]], weights: np.ndarray) -> View:
    """Every head of every layer, [layer, head, query, key], at one step."""
    return model_view(weights, chosen=chosen, notes=notes, largest=96)


def large(*, label: str, texts: list[str], weights: np.ndarray) -> View:
    """A head's weights [query, key], its future blank."""
    past = np.where(np.tri(len(weights), dtype=bool), weights, np.nan)
    axes: dict[str, Any] = {"down": "from (query)", "across": "to (key)", "unit": "%", "scale": (0.0, 1.0), "cell": (9, 16)}
    return grid_view(past, texts, texts, **axes, label=label)
