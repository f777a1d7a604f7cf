"""The recipes of this page's pictures: functions of a model, what it read, and options that are literals.

A recipe makes a long calculation only if the page has not made it already. A notebook, which contains these functions, makes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import Attribution, Stream, streams
from analysis.merging import group_of
from models.language_model import LanguageModel
from models.tokens import Patch
from models.trace import Trace
from ui.picture.falling import select_tokens
from viz import View, compare_view, patch_view, reading_view
from viz.figures.sankey import sankey
from viz.tokens import plain_signs

FLOW = "attention flow"
ROLLOUT = "rollout"
GRADIENTS = "gradient rollout"
MOST = 400  # the most streams in a picture


# ---------------------------------------------------------------- what is shown of the text


def sum_shares(scores: np.ndarray, groups: list[list[int]], scope_options: dict[str, Any]) -> np.ndarray:
    """Return the scores of the tokens or words on screen: a word has the sum of its tokens' (NaN only where all are)."""
    group_scores = [scores[group] for group in groups]
    sums = np.array([np.nan if np.isnan(group).all() else np.nansum(group) for group in group_scores])
    total = np.nansum(sums)
    return sums / total if scope_options.get("renormalised") and total > 0 else sums


# ---------------------------------------------------------------- pictures


def method(
    model: LanguageModel,
    trace: Trace,
    *,
    name: str,
    position: int,
    token: int | None,
    choices: tuple[tuple, ...],
    between: int | None,
    second: str,
    scope_options: dict[str, Any],
    simple: bool,
    link: str,
    scores: np.ndarray | None = None,
) -> View:
    """Return the text or the picture, shaded by a method's scores. between: the most tokens that attention flow takes."""
    attribution = Attribution(model, trace, position, token, **dict(choices))
    if scores is None:
        scores = attribution.flow(between) if name == FLOW else attribution.scores(name)
    tokens, groups, start = select_tokens(trace, second, scope_options, simple)
    shares = sum_shares(scores, groups, scope_options)
    if isinstance(patch := trace.tokens[-1], Patch):
        image = patch.grid.image_of(trace.tokens)
        return patch_view(image, trace.tokens, values=100 * shares, unit="%", link=link, whole=simple)
    return reading_view(
        tokens,
        None,
        group_of(groups, attribution.ways.place(position)),
        True,
        quantity=100 * shares,
        unit="%",
        second=start or None,
        link=link,
        apart=0 if simple and rests_at_start(tokens, shares) else None,
        whole=simple,
    )


def rests_at_start(tokens: list[Any], shares: np.ndarray) -> bool:
    """Whether the first token is special and has the largest share, beside which the others would all look pale."""
    return len(tokens) > 1 and tokens[0].special and bool(np.nanargmax(np.nan_to_num(shares)) == 0) and bool(shares[1:].any())


def by_layer(
    model: LanguageModel,
    trace: Trace,
    *,
    names: list[str],
    titles: list[str],
    position: int,
    token: int | None,
    choices: tuple[tuple, ...],
    second: str,
    scope_options: dict[str, Any],
    simple: bool,
    values: np.ndarray | None = None,
) -> View:
    """Return the text shaded by several methods, layer by layer. values: [layer, method, token]."""
    attribution = Attribution(model, trace, position, token, **dict(choices))
    if values is None:
        values = np.array([[attribution.scores(name, layer) for name in names] for layer in range(attribution.ways.layers)])
    tokens, groups, _ = select_tokens(trace, second, scope_options, simple)
    shares = np.array([[sum_shares(row, groups, scope_options) for row in frame] for frame in values])
    frames = [f"after layer {number}" for number in trace.numbers]
    return compare_view(tokens, titles, shares, frames, group_of(groups, attribution.ways.place(position)), first=0)


def map_of_layer(
    model: LanguageModel,
    trace: Trace,
    *,
    name: str,
    layer: int,
    position: int,
    token: int | None,
    choices: tuple[tuple, ...],
    second: str,
    scope_options: dict[str, Any],
    simple: bool,
    scores: np.ndarray | None = None,
) -> View:
    """Return the picture shaded by a method's scores from the input up to a layer."""
    if scores is None:
        scores = Attribution(model, trace, position, token, **dict(choices)).scores(name, layer)
    _, groups, _ = select_tokens(trace, second, scope_options, simple)
    shares = sum_shares(scores, groups, scope_options)
    patch = trace.tokens[-1]
    assert isinstance(patch, Patch), "only a picture is shaded patch by patch"
    return patch_view(patch.grid.image_of(trace.tokens), trace.tokens, values=100 * shares, unit="%", whole=simple)


def routes(
    model: LanguageModel,
    trace: Trace,
    *,
    name: str,
    position: int,
    choices: tuple[tuple, ...],
    least: float,
    simple: bool,
    named: bool = False,
    strong: list[Stream] | None = None,
) -> go.Figure:
    """Return a figure of the streams that carry at least the share `least` of the total that arrives."""
    attribution = Attribution(model, trace, position, None, **dict(choices))
    strong = streams_of(attribution, name, least)[0] if strong is None else strong
    tokens = plain_signs(attribution.ways.tokens) if simple else attribution.ways.tokens
    return sankey(tokens, strong, columns_of(attribution), named=named)


def streams_of(attribution: Attribution, name: str, least: float) -> tuple[list[Stream], float]:
    """Return the streams of a method, no more than a picture holds, and the largest total left out of a step."""
    weights = attribution.attention if name == ROLLOUT else attribution.values
    strong, left_out = streams(attribution.ways, weights, attribution.position, attribution.residual, least)
    if len(strong) > MOST:
        smallest = sorted((stream.share for stream in strong), reverse=True)[MOST - 1]
        strong, left_out = streams(attribution.ways, weights, attribution.position, attribution.residual, smallest)
    return strong, left_out


def columns_of(attribution: Attribution) -> list[str]:
    return ["input", *(step.name for step in attribution.ways.steps)]
