"""The recipes of this page's pictures: functions of a model, what it read, and options that are literals.

A recipe makes a long calculation only if the page has not made it already. A notebook, which contains these functions, makes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import Explanation, Question, agreement, explain
from models.language_model import LanguageModel
from models.tokens import Patch
from models.trace import Trace
from ui.picture.falling import select_tokens
from viz import View, patch_view, reading_view
from viz.figures.agreement import agreeing as matrix

SHARES = ("attention × gradient", "rollout")  # in shares of attention; the others are in nats


def amounts(
    model: LanguageModel,
    trace: Trace,
    scores: np.ndarray,
    groups: list[list[int]],
    *,
    method: str,
    position: int,
    token: int,
    simple: bool,
) -> tuple[np.ndarray, str]:
    """Return the number on screen for each token or word, and its unit. A word has the sum of its tokens' numbers."""
    group_scores = [scores[group] for group in groups]
    sums = np.array([np.nan if np.isnan(group).all() else np.nansum(group) for group in group_scores])
    if method in SHARES:
        return 100 * sums, "%"
    if model.info.labels and not model.info.labels.chances:
        return sums, "points"
    if not simple:
        return sums, "nats"
    logits = trace.scores_at(position)
    assert logits is not None, "it predicts"
    chance = model.chances(logits)[token]
    return 100 * chance * (1 - np.exp(-sums)), "points"  # of 100: how much the probability falls without the token


def explained(
    model: LanguageModel,
    trace: Trace,
    *,
    method: str,
    position: int,
    token: int,
    against: int | None,
    second: str,
    scope_options: dict[str, Any],
    simple: bool,
    tokens_alone: bool = False,
    start_apart: bool = False,
    scores: np.ndarray | None = None,
) -> View:
    """Return the text, coloured by the worth of each token to the prediction. start_apart: without a shade for a special token at
    the start that has the largest share, beside which all others would look pale."""
    if scores is None:
        scores = explain(Question(model, trace, position, token, against, True), method, tokens_alone=tokens_alone).scores
    tokens, groups, start = select_tokens(trace, second, scope_options, simple)
    values, unit = amounts(model, trace, scores, groups, method=method, position=position, token=token, simple=simple)
    if isinstance(patch := trace.tokens[-1], Patch):
        return patch_view(patch.grid.image_of(trace.tokens), trace.tokens, values=values, unit=unit)
    sizes = np.nan_to_num(np.abs(values), nan=-1)
    asks = [i for i, group in enumerate(groups) if position in group]
    if simple and np.delete(sizes, asks).max(initial=0) > 0:
        sizes[asks] = -1  # without this token it is another question
    signed, apart = method not in SHARES, None
    if start_apart and not signed and len(tokens) > 1 and tokens[0].special and sizes[0] == sizes.max() and sizes[1:].max() > 0:
        apart, sizes[0] = 0, -1
    best = int(sizes.argmax())  # the strongest, for or against
    return reading_view(tokens, None, best, True, quantity=values, unit=unit, second=start or None, apart=apart, diverging=signed)


def agreeing(
    model: LanguageModel,
    trace: Trace,
    *,
    methods: Sequence[str],
    titles: Sequence[str],
    position: int,
    token: int,
    against: int | None,
    explanations: Sequence[Explanation] | None = None,
) -> go.Figure:
    """Return a figure of how far each pair of methods ranks the tokens in the same order."""
    question = Question(model, trace, position, token, against, keep_last=True)
    explanations = explanations or [explain(question, method) for method in methods]
    return matrix(titles, agreement(explanations, question.units))
