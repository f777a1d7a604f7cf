"""Attribution of a prediction to words of the input by every method, with the cost and the error of each."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from analysis.attention_rollout import rollout
from analysis.attribution import Attribution
from analysis.attribution_tests import Question, Report
from analysis.lime_and_shap import ENUMERATED, FEWEST, ORDERS, enumerated_shap, leave_one_out, lime, ready, sampled_shap, shap
from analysis.ranks import rank_correlation
from analysis.slopes import STEPS, adds_to_tokens, ends, gradient_times_input, integrated_gradients
from models.language_model import LanguageModel
from models.reading.inputs import Text

LOOKS = ("attention × gradient", "rollout")  # shares of attention, not evidence
SLOPES = ("gradient × input", "integrated gradients")
DRAWN = ("lime", "sampled shap")  # random, so another seed gives other numbers (see `is_drawn`)
METHODS = ("leave-one-out", *SLOPES, "lime", "shap", "sampled shap", *LOOKS)
QUICK = ("leave-one-out", *SLOPES, *LOOKS)  # for a short text


@dataclass(frozen=True)
class Explanation:
    """The worth of each token to a prediction by one method.

    scores: float64 [token of `trace.tokens`, then of `trace.target`], NaN for tokens that are not explained. Above 0: the token
    supports the prediction, in nats of its log-probability; for the two `LOOKS`, a share of attention, never below 0. difference:
    the sum that the scores should have, None if the method promises none. passes: texts that the model read, or forward and
    backward passes; seconds: the time on this machine. kind: the kind of numbers: for SHAP "enumerated" (Shapley values, from
    every choice of tokens), "sampled" (estimates of them) or "tree" (Owen values over a tree of neighbours); for gradient × input
    "layer input" or "token embedding", with respect to which the slope is taken; else "". draws: for sampled values, the estimate
    from each random order, float64 [order, token], whose mean is the scores; else None.
    """

    method: str
    scores: np.ndarray
    passes: int
    seconds: float
    difference: float | None = None
    kind: str = ""
    draws: np.ndarray | None = None

    @property
    def total(self) -> float:
        return float(np.nansum(self.scores))

    def errors(self, groups: Sequence[Sequence[int]]) -> np.ndarray | None:
        """Return the standard error of the sum of each group's scores, from the spread of the random orders: float64 [group], NaN
        where the scores are; None if nothing was sampled."""
        if self.draws is None:
            return None
        scored_groups = [[token for token in group if not np.isnan(self.scores[token])] for group in groups]
        sums = np.stack([self.draws[:, group].sum(1) for group in scored_groups], axis=1)  # [order, group]
        return np.where([not group for group in scored_groups], np.nan, sums.std(0, ddof=1) / np.sqrt(len(sums)))


def explain(
    question: Question,
    method: str,
    seed: int = 0,
    texts: int | None = None,
    report: Report | None = None,
    tokens_alone: bool = False,
) -> Explanation:
    """Return the worth of each token to a prediction, by one of `METHODS`.

    seed: for the draws of `DRAWN` methods; texts: how many changed texts LIME and SHAP may read, None for `passes_needed`.
    report: called with the progress. tokens_alone: for gradient × input, take the slope with respect to the vectors of tokens
    before positions are added (see `analysis.slopes`). Errors: ValueError for another method, if nothing was typed, and if the
    model does not provide what the method needs.
    """
    if method not in METHODS:
        raise ValueError(f"The method must be one of {', '.join(METHODS)}; it is {method!r}.")
    if not question.units:
        raise ValueError("There is no token that could be taken away. Type a few words.")
    if method in ("lime", *SLOPES):  # before the clock starts: a library's first import takes long
        import_module("captum.attr")
    elif method == "shap" or (method == "sampled shap" and is_drawn(method, len(question.units))):
        ready()
    began, fresh = time.perf_counter(), replace(question, _known={})  # nothing read for another method counts as free
    units, texts = fresh.units, texts or passes_needed(method, len(fresh.units))
    if method in LOOKS:
        looks = Attribution(fresh.model, fresh.trace, fresh.position, fresh.token, against=fresh.against)
        labels = fresh.model.info.labels
        if method == "rollout" and labels and labels.pooled:  # the label comes from all rows
            scores = rollout(fresh.trace.attention["self"])[-1].mean(0)
        else:
            scores = fresh.of_tokens(looks.scores(method))
        return _explanation(fresh, method, range(len(scores)), scores, texts, began)
    if method in SLOPES:
        return _by_slope(fresh, method, texts, report, tokens_alone, began)
    if method == "leave-one-out":
        return _explanation(fresh, method, units, leave_one_out(fresh, report), fresh.texts, began)
    if method == "lime":
        return _explanation(fresh, method, units, lime(fresh, texts, seed, report), fresh.texts, began)
    kind, draws = "tree" if method == "shap" else "sampled" if is_drawn(method, len(units)) else "enumerated", None
    if kind == "sampled":
        draws = sampled_shap(fresh, ORDERS, seed, report)
        values = draws.mean(0)
    else:
        values = shap(fresh, texts, report) if kind == "tree" else enumerated_shap(fresh, report)
    empty, full = fresh.evidence(np.array([np.zeros(len(units), bool), np.ones(len(units), bool)]))
    explanation = _explanation(fresh, method, units, values, fresh.texts, began, float(full - empty))
    return replace(explanation, kind=kind, draws=None if draws is None else _among_tokens(fresh, units, draws))


def _by_slope(
    question: Question, method: str, passes: int, report: Report | None, tokens_alone: bool, began: float
) -> Explanation:
    if method == SLOPES[0]:
        scores = question.of_tokens(gradient_times_input(question, report, tokens_alone))[question.units]
        explanation = _explanation(question, method, question.units, scores, passes, began)
        return replace(explanation, kind="token embedding" if tokens_alone or not adds_to_tokens(question) else "layer input")
    scores = question.of_tokens(integrated_gradients(question, report=report))[question.units]
    first, last = ends(question)
    return _explanation(question, method, question.units, scores, passes, began, last - first)


def _explanation(
    question: Question,
    method: str,
    places: Sequence[int],
    values: np.ndarray,
    passes: int,
    began: float,
    difference: float | None = None,
) -> Explanation:
    return Explanation(method, _among_tokens(question, places, values), passes, time.perf_counter() - began, difference)


def _among_tokens(question: Question, places: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Return values [..., place] among all tokens [..., token], NaN for the others."""
    scores = np.full((*values.shape[:-1], len(question.trace.tokens) + len(question.trace.target)), np.nan)
    scores[..., list(places)] = values
    return scores


def is_drawn(method: str, units: int) -> bool:
    """Return whether a method is random for so many units: SHAP enumerates all choices of few units."""
    return method in DRAWN and not (method == "sampled shap" and units <= ENUMERATED)


def passes_needed(method: str, units: int) -> int:
    """Return the most texts that a method reads for so many units, or its number of forward and backward passes."""
    return {
        "leave-one-out": units + 1,
        "gradient × input": 1,
        "integrated gradients": STEPS,
        "lime": max(FEWEST, 4 * units),
        "shap": min(units * units + 2, max(FEWEST, 4 * units)),
        "sampled shap": ORDERS * (2 * units + 1) if units > ENUMERATED else 2**units,
        "attention × gradient": 1,
        "rollout": 1,
    }[method]


def attributions(
    model: LanguageModel,
    text: Text,
    method: str,
    position: int = -1,
    token: int | None = None,
    target: Text = "",
    against: int | None = None,
    seed: int = 0,
    tokens_alone: bool = False,
    keep_last: bool = False,
) -> np.ndarray:
    """Return the worth of each token of a text to a prediction: float64 [token], NaN for tokens that are not explained.

    method: one of `METHODS`. position: that of the prediction in `trace.read` (a mask of an encoder; a classifier of texts has
    only one); token: an id, or the number of a label, None for the likeliest one; against: the one that it is compared with;
    target: the output of an encoder-decoder so far, which follows its source in the result. tokens_alone: as in `explain`;
    keep_last: as in `Question`. For the meaning of the numbers see `Explanation`. Errors: as `explain` and `Question`; ValueError
    for an unknown position, token or label.
    """
    trace = model.trace(text, target)
    if not -len(trace.read) <= position < len(trace.read):
        raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
    labels = model.info.labels
    position = model.places(trace)[0] if labels and not labels.each else position % len(trace.read)
    logits = trace.scores_at(position)
    if logits is not None:
        token = int(logits.argmax()) if token is None else token
        if strange := [choice for choice in (token, against) if choice is not None and not 0 <= choice < len(logits)]:
            raise ValueError(f"There is no {'label' if labels else 'token'} {strange[0]}: they are 0 to {len(logits) - 1:,}.")
    question = Question(model, trace, position, token or 0, against, keep_last)
    return explain(question, method, seed, tokens_alone=tokens_alone).scores


def agreement(explanations: Sequence[Explanation], units: Sequence[int]) -> np.ndarray:
    """Return Spearman's rank correlation of the scores of each pair of methods: float64 [method, method].

    units: positions that all methods explain. NaN if a method's scores are constant.
    """
    scores = [explanation.scores[list(units)] for explanation in explanations]
    pairs = [[rank_correlation(first, second) for second in scores] for first in scores]
    return np.array([[np.nan if pair is None else pair for pair in row] for row in pairs])


def spread(question: Question, method: str, seeds: int = 5, report: Report | None = None) -> np.ndarray:
    """Return the scores of a random method with each of some seeds: float64 [seed, token]. Errors: as `explain`."""
    rows = []
    for seed in range(seeds):

        def part(share: float, words: str, seed: int = seed) -> None:
            if report:
                report((seed + share) / seeds, f"seed {seed + 1} of {seeds}: {words}")

        rows.append(explain(question, method, seed, report=part).scores)
    return np.array(rows)
