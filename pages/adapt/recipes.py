"""Recipes for the pictures of this page, from records of an adaptation, which a notebook contains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from viz import View, grid_view
from viz.figures.singular import falling_values
from viz.figures.training import over_steps
from viz.numbers import percent, whole_percent


def curves(*, names: list[str], total: int, options: dict[str, Any], steps: np.ndarray, values: np.ndarray) -> go.Figure:
    """Draw a line for each name over the steps: values [name, step]."""
    series = {name: (steps.tolist(), row.tolist()) for name, row in zip(names, values, strict=True)}
    return over_steps(series, total, **options)


def sentences(
    *, columns: list[str], questions: list[str], answers: list[str], whole: bool = False, chances: np.ndarray
) -> pd.DataFrame:
    """Return a table with a row for each sentence: its answer, and its chances [sentence, column] in per cent. whole: without
    decimals."""
    rows = [[answer, *map(whole_percent if whole else percent, row)] for answer, row in zip(answers, chances, strict=True)]
    return pd.DataFrame(rows, index=questions, columns=["last word", *columns])


def written(*, questions: list[str], texts: list[list[str]]) -> pd.DataFrame:
    """Return a table with what a model writes after each beginning of a sentence, before it learned and now."""
    return pd.DataFrame(texts, index=questions, columns=["before", "now"])


def over_strength(*, names: list[str], options: dict[str, Any], strengths: np.ndarray, values: np.ndarray) -> go.Figure:
    """Draw a line for each name over the strength of a change: values [name, strength]."""
    series = {name: (strengths.tolist(), row.tolist()) for name, row in zip(names, values, strict=True)}
    return over_steps(series, 1, along="strength", **options)


def changes(*, parts: list[str], layers: list[str], shares: np.ndarray) -> View:
    """Draw the share of each matrix that has changed, ‖ΔW‖ / ‖W‖, [layer, part]."""
    return grid_view(
        shares, layers, parts, down="layer", across="matrix", unit="%", cell=(48, 120), height=26, label="change of each matrix"
    )


def singular(*, name: str, learned: int, values: np.ndarray) -> go.Figure:
    """Draw the singular values of the change of one matrix, the largest first."""
    return falling_values(values, name, learned)
