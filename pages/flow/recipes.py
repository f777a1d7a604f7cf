"""How each picture of this page is made: a model, what it read, and options that can be written down.

What takes long is calculated here only where the page has not done so already; a notebook, which carries these functions, does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from analysis import Attribution, Curves, Faithfulness, Question, Stream, as_written, faithfulness, scope, streams
from models.language_model import LanguageModel
from models.tokens import Token
from models.trace import Trace
from viz import View, compare_view, reading_view
from viz.figures.curves import curves
from viz.figures.sankey import sankey
from viz.tokens import label, plain_signs

FLOW = "attention flow"
ROLLOUT = "rollout"
MOST = 400  # streams in a picture


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


def falling(
    model: LanguageModel, trace: Trace, *, name: str, others: list[str], titles: dict[str, str], methods: list[str],
    position: int, token: int, choices: tuple[tuple, ...], between: int | None, coming: bool, exact: bool, title: str,
    across: str, evidence: Faithfulness | None = None,
) -> go.Figure:  # fmt: skip
    """How the chance of a prediction changes while tokens leave the text, or come, in the order of a method."""
    evidence = evidence or measured(model, trace, methods, position, token, choices, between, exact)
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


def measured(
    model: LanguageModel, trace: Trace, methods: Sequence[str], position: int, token: int, choices: tuple[tuple, ...],
    between: int | None, exact: bool,
) -> Faithfulness:  # fmt: skip
    """The curves of methods, tested on the model again: this reads many changed texts."""
    asked = Attribution(model, trace, position, token, **dict(choices))
    scores = {name: asked.flow(between) if name == FLOW else asked.scores(name) for name in methods}
    return faithfulness(Question(model, trace, position, token), scores, exact=exact)
