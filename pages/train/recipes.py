"""Recipes for the pictures of this page, from records of a transformer's training.

The numbers cannot be calculated again without another training, so a notebook contains them beside these functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from viz import View, grid_view, model_view
from viz.figures.scale import on_log_axes
from viz.figures.training import over_steps


def curves(*, names: list[str], total: int, at: int | None, options: dict[str, Any], **points: np.ndarray) -> go.Figure:
    """Draw lines over the steps of a training. points: for line i its steps, "x0", "x1", …, and its values, "y0", "y1", …; where
    it stands for several runs, also "low0" and "high0", …, the lowest and the highest."""
    series = {name: (points[f"x{i}"].tolist(), points[f"y{i}"].tolist()) for i, name in enumerate(names)}
    bands = {
        name: tuple(points[f"{end}{i}"].tolist() for end in ("x", "low", "high"))
        for i, name in enumerate(names)
        if f"low{i}" in points
    }
    return over_steps(series, total, at, bands=bands, **options)


def thumbnails(*, chosen: tuple[int, int], notes: list[list[str]], simple: bool = False, weights: np.ndarray) -> View:
    """Draw every head of every layer, [layer, head, query, key], at one step."""
    return model_view(weights, chosen=chosen, notes=notes, largest=96, simple=simple)


def large(*, label: str, texts: list[str], simple: bool = False, weights: np.ndarray) -> View:
    """Draw a head's weights [query, key], with later tokens blank."""
    past = np.where(np.tri(len(weights), dtype=bool), weights, np.nan)
    down, across = ("from", "to") if simple else ("from (query)", "to (key)")
    axes: dict[str, Any] = {"down": down, "across": across, "unit": "%", "scale": (0.0, 1.0), "cell": (9, 16)}
    return grid_view(past, texts, texts, **axes, label=label)


def by_layer(*, rows: list[str], steps: list[int], measure: str, values: np.ndarray) -> View:
    """Draw numbers, [row, step], in colours: their logarithm for gradients and updates, which differ by powers of ten."""
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    options: dict[str, Any] = {"scale": (0.0, most or 1.0)}
    if measure == "lost":
        options = {"scale": (0.0, 1.0)}
    elif measure == "mean":
        largest = max(abs(least), abs(most)) or 1.0
        options = {"scale": (-largest, largest), "signed": True}
    elif measure in ("gradient", "update") and (values > 0).any():
        logs = np.log10(np.where(values > 0, values, values[values > 0].min()))
        options = {"shades": (logs - logs.min()) / ((logs.max() - logs.min()) or 1.0), "ends": (f"{least:.2g}", f"{most:.2g}")}
    return grid_view(
        values,
        rows,
        [str(step) for step in steps],
        down="head" if measure == "entropy" else "layer",
        across="step",
        unit={"entropy": "nats", "lost": "%"}.get(measure, ""),
        column_names=[f"step {step}" for step in steps],
        cell=(8, 34),
        height=24,
        label=f"{measure} by layer and step",
        **options,
    )


def scale(*, names: list[str], across: str, law_name: str = "", **points: np.ndarray) -> go.Figure:
    """Draw losses on logarithmic axes. points: for line i its places, "x0", …, and the mean, lowest and highest loss there, "y0",
    "low0", "high0", …; "law_x" and "law_y" of a fitted law."""
    series = {name: tuple(points[f"{part}{i}"].tolist() for part in ("x", "y", "low", "high")) for i, name in enumerate(names)}
    law = (points["law_x"].tolist(), points["law_y"].tolist()) if "law_x" in points else None
    return on_log_axes(series, law, across=across, up="loss on held-out text, nats a byte", law_name=law_name)
