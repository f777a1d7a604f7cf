"""How each picture of this page is made: a model, what it read, and options that can be written down.

What takes long is calculated here only where the page has not done so already; a notebook, which carries these functions, does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import Curves, Explanation, Faithfulness, Question, agreement, as_written, explain, faithfulness, scope
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace
from viz import View, reading_view
from viz.figures.agreement import agreeing as matrix
from viz.figures.curves import curves
from viz.tokens import label, plain_signs

SHARES = ("attention × gradient", "rollout")  # of what is looked at; the others are in nats


# ---------------------------------------------------------------- what is shown of the text


def select_tokens(
    trace: Trace, second: str, scope_options: dict[str, Any], simple: bool
) -> tuple[list[Token], list[list[int]], int]:
    """The tokens that are shown, the source before the target; the places that each joins; where the target begins.

    scope_options: as `analysis.scope` takes it; simple: with the tokens' signs as beginners read them.
    """

    def keys(kind: str) -> tuple[list[Token], list[list[int]]]:
        side = scope(trace.attention[kind], **scope_options).keys
        return plain_signs(side.tokens, side.start == 0) if simple else side.tokens, side.groups

    if not trace.target:
        tokens, groups = keys("self")
        return as_written(tokens, trace.text, second), groups, 0
    (read, groups), (target, others), before = keys("encoder"), keys("decoder"), len(trace.tokens)
    tokens = [*as_written(read, trace.text), *as_written(target, second)]
    return tokens, groups + [[before + i for i in group] for group in others], len(read)


def amounts(
    model: LanguageModel, trace: Trace, scores: np.ndarray, groups: list[list[int]], *, method: str, position: int, token: int,
    simple: bool,
) -> tuple[np.ndarray, str]:  # fmt: skip
    """What is written of each token or word that is shown, and its unit. A word has the sum of its tokens'."""
    each = [scores[group] for group in groups]
    sums = np.array([np.nan if np.isnan(group).all() else np.nansum(group) for group in each])
    if method in SHARES:
        return 100 * sums, "%"
    if model.info.labels and not model.info.labels.chances:
        return sums, "points"
    if not simple:
        return sums, "nats"
    logits = trace.scores_at(position)
    assert logits is not None, "it predicts"
    chance = model.chances(logits)[token]
    return 100 * chance * (1 - np.exp(-sums)), "%"  # what the chance falls by without the token


# ---------------------------------------------------------------- pictures


def explained(
    model: LanguageModel, trace: Trace, *, method: str, position: int, token: int, against: int | None, second: str,
    scope_options: dict[str, Any], simple: bool, scores: np.ndarray | None = None,
) -> View:  # fmt: skip
    """The text, coloured by what each token is worth to the prediction."""
    if scores is None:
        scores = explain(Question(model, trace, position, token, against), method).scores
    tokens, groups, start = select_tokens(trace, second, scope_options, simple)
    found, unit = amounts(model, trace, scores, groups, method=method, position=position, token=token, simple=simple)
    best = int(np.nan_to_num(found, nan=-np.inf).argmax())
    return reading_view(tokens, None, best, True, quantity=found, unit=unit, second=start or None)


def agreeing(
    model: LanguageModel, trace: Trace, *, methods: Sequence[str], titles: Sequence[str], position: int, token: int,
    against: int | None, found: Sequence[Explanation] | None = None,
) -> go.Figure:  # fmt: skip
    """How far each two methods put the tokens in the same order."""
    question = Question(model, trace, position, token, against)
    found = found or [explain(question, method) for method in methods]
    return matrix(titles, agreement(found, question.units))


def falling(
    model: LanguageModel, trace: Trace, *, name: str, others: Sequence[str], titles: dict[str, str], methods: Sequence[str],
    position: int, token: int, against: int | None, coming: bool, exact: bool, title: str, across: str,
    evidence: Faithfulness | None = None,
) -> go.Figure:  # fmt: skip
    """How the chance of a prediction changes while tokens leave the text, or come, in the order of a method."""
    if evidence is None:
        question = Question(model, trace, position, token, against)
        evidence = faithfulness(question, {one: explain(question, one).scores for one in methods}, exact=exact)
    spelt = ["“" + label([*trace.tokens, *trace.target][unit].text.strip(" ") or " ") + "”" for unit in evidence.units]
    ours, doing = evidence.methods[name], "came" if coming else "went"
    spans = zip([0, *ours.counts], ours.counts, strict=False)
    steps = [f"{doing} last: {', '.join(spelt[i] for i in ours.order[a:b])}" if b > a else "" for a, b in spans]
    return curves(
        ours.counts,
        (titles[name], chances(ours, coming)),
        {titles[other]: chances(evidence.methods[other], coming) for other in others},
        [chances(order, coming) for order in evidence.random],
        steps,
        title=title,
        across=across,
    )


def chances(order: Curves, coming: bool) -> np.ndarray:
    return order.insertion if coming else order.deletion
