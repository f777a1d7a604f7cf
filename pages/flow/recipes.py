"""How each picture of this page is made: a model, what it read, and options that can be written down.

What takes long is calculated here only where the page has not done so already; a notebook, which carries these functions, does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import Attribution, Stream, streams
from models.language_model import LanguageModel
from models.trace import Trace
from ui.picture.falling import select_tokens
from viz import View, compare_view, reading_view
from viz.figures.sankey import sankey
from viz.tokens import plain_signs

FLOW = "attention flow"
ROLLOUT = "rollout"
MOST = 400  # streams in a picture


# ---------------------------------------------------------------- what is shown of the text


def sum_shares(scores: np.ndarray, groups: list[list[int]], scope_options: dict[str, Any]) -> np.ndarray:
    """Scores [token] of what is shown: a word has the sum of its tokens' (NaN only where all are)."""
    each = [scores[group] for group in groups]
    sums = np.array([np.nan if np.isnan(group).all() else np.nansum(group) for group in each])
    total = np.nansum(sums)
    return sums / total if scope_options.get("renormalised") and total > 0 else sums


def holder(place: int, groups: list[list[int]]) -> int | None:
    """Which of the shown tokens holds a place."""
    return next((i for i, group in enumerate(groups) if place in group), None)


# ---------------------------------------------------------------- pictures


def method(
    model: LanguageModel, trace: Trace, *, name: str, position: int, token: int | None, choices: tuple[tuple, ...],
    between: int | None, second: str, scope_options: dict[str, Any], simple: bool, link: str, scores: np.ndarray | None = None,
) -> View:  # fmt: skip
    """The text shaded by what a method gives to each token. between: of attention flow, as many tokens as `flow` takes."""
    asked = Attribution(model, trace, position, token, **dict(choices))
    if scores is None:
        scores = asked.flow(between) if name == FLOW else asked.scores(name)
    tokens, groups, start = select_tokens(trace, second, scope_options, simple)
    return reading_view(
        tokens, None, holder(asked.ways.place(position), groups), False, quantity=100 * sum_shares(scores, groups, scope_options),
        unit="%", second=start or None, link=link,
    )  # fmt: skip


def by_layer(
    model: LanguageModel, trace: Trace, *, names: list[str], titles: list[str], position: int, token: int | None,
    choices: tuple[tuple, ...], second: str, scope_options: dict[str, Any], simple: bool, values: np.ndarray | None = None,
) -> View:  # fmt: skip
    """The text shaded by several methods, layer by layer. values: [layer, method, token]."""
    asked = Attribution(model, trace, position, token, **dict(choices))
    if values is None:
        values = np.array([[asked.scores(name, layer) for name in names] for layer in range(asked.ways.layers)])
    tokens, groups, _ = select_tokens(trace, second, scope_options, simple)
    shares = np.array([[sum_shares(row, groups, scope_options) for row in frame] for frame in values])
    frames = [f"after layer {layer}" for layer in range(len(values))]
    return compare_view(tokens, titles, shares, frames, holder(asked.ways.place(position), groups))


def routes(
    model: LanguageModel, trace: Trace, *, name: str, position: int, choices: tuple[tuple, ...], least: float, simple: bool,
    strong: list[Stream] | None = None,
) -> go.Figure:  # fmt: skip
    """The streams of which each is at least a share `least` of all that arrives."""
    asked = Attribution(model, trace, position, None, **dict(choices))
    strong = streams_of(asked, name, least)[0] if strong is None else strong
    tokens = plain_signs(asked.ways.tokens) if simple else asked.ways.tokens
    return sankey(tokens, strong, columns_of(asked))


def streams_of(asked: Attribution, name: str, least: float) -> tuple[list[Stream], float]:
    """The streams of a method, no more than a picture holds, and the largest total left out of a step."""
    weights = asked.attention if name == ROLLOUT else asked.values
    strong, left_out = streams(asked.ways, weights, asked.position, asked.residual, least)
    if len(strong) > MOST:
        smallest = sorted((stream.share for stream in strong), reverse=True)[MOST - 1]
        strong, left_out = streams(asked.ways, weights, asked.position, asked.residual, smallest)
    return strong, left_out


def columns_of(asked: Attribution) -> list[str]:
    return ["input", *(step.name for step in asked.ways.steps)]
