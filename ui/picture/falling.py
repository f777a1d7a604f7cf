"""A recipe of two pages: the prediction's probability while tokens are deleted, and which tokens are shown.

A downloaded notebook contains these functions, so they use nothing that a notebook does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import Attribution, Curves, Faithfulness, Question, as_written, explain, faithfulness, scope
from analysis.attribution import METHODS
from models.language_model import LanguageModel
from models.tokens import Patch, Token
from models.trace import Trace
from viz.figures.curves import curves
from viz.tokens import label, plain_signs


def select_tokens(
    trace: Trace, second: str, scope_options: dict[str, Any], simple: bool
) -> tuple[list[Token], list[list[int]], int]:
    """Return the shown tokens, the source before the target; the positions that each joins; and where the target begins.

    scope_options: as `analysis.scope` takes it; simple: with the tokens' signs as beginners read them.
    """

    def keys(kind: str) -> tuple[list[Token], list[list[int]]]:
        side = scope(trace.attention[kind], **scope_options).keys
        return plain_signs(side.tokens, side.start == 0) if simple else side.tokens, side.groups

    if any(isinstance(token, Patch) for token in trace.tokens):
        return list(trace.tokens), [[place] for place in range(len(trace.tokens))], 0
    if not trace.target:
        tokens, groups = keys("self")
        return as_written(tokens, trace.text, second), groups, 0
    (read, groups), (target, others), before = keys("encoder"), keys("decoder"), len(trace.tokens)
    tokens = [*as_written(read, trace.text), *as_written(target, second)]
    return tokens, groups + [[before + i for i in group] for group in others], len(read)


def falling(
    model: LanguageModel,
    trace: Trace,
    *,
    name: str,
    others: Sequence[str],
    titles: dict[str, str],
    methods: Sequence[str],
    position: int,
    token: int,
    against: int | None = None,
    choices: tuple[tuple, ...] = (),
    between: int | None = None,
    coming: bool,
    exact: bool,
    title: str,
    across: str,
    rival: str = "",
    evidence: Faithfulness | None = None,
) -> go.Figure:
    """Draw how the probability of a prediction changes while tokens are deleted, or inserted, in the order of a method.

    choices: fields of `Attribution`; between: the most tokens that attention flow takes. rival: a method drawn beside the first.
    """
    if evidence is None:
        question = Question(model, trace, position, token, against, keep_last=True)
        scores = {method: scores_by(question, method, choices, between) for method in methods}
        evidence = faithfulness(question, scores, exact=exact)
    unit_texts = ["“" + label([*trace.tokens, *trace.target][unit].text.strip(" ") or " ") + "”" for unit in evidence.units]
    ours, doing = evidence.methods[name], "came" if coming else "went"
    spans = zip([0, *ours.counts], ours.counts, strict=False)
    steps = [f"{doing} last: {', '.join(unit_texts[i] for i in ours.order[a:b])}" if b > a else "" for a, b in spans]
    return curves(
        ours.counts,
        (titles[name], chances(ours, coming)),
        {titles[other]: chances(evidence.methods[other], coming) for other in others},
        [chances(order, coming) for order in evidence.random],
        steps,
        title=title,
        across=across,
        rival=(titles[rival], chances(evidence.methods[rival], coming)) if rival else None,
    )


def chances(order: Curves, coming: bool) -> np.ndarray:
    return order.insertion if coming else order.deletion


def scores_by(question: Question, method: str, choices: tuple[tuple, ...], between: int | None) -> np.ndarray:
    """Return the score of each token by a method of either page: float64 [token]."""
    if method not in METHODS:
        return explain(question, method).scores
    attribution = Attribution(
        question.model, question.trace, question.position, question.token, **dict(choices), against=question.against
    )
    return attribution.flow(between) if method == "attention flow" else attribution.scores(method)
