"""Which words of the input speak for a prediction: one question, asked by every method, with what each costs and how far it can
be trusted."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module

import numpy as np

from analysis.attention_rollout import rollout
from analysis.attribution import Attribution
from analysis.perturbation import Question, Report, rank_correlation
from analysis.sampling import ENUMERATED, FEWEST, ORDERS, enumerated_shap, leave_one_out, lime, ready, sampled_shap, shap
from analysis.slopes import STEPS, adds_to_tokens, ends, gradient_times_input, integrated_gradients
from models.given import Text
from models.language_model import LanguageModel

LOOKS = ("attention × gradient", "rollout")  # shares of what is looked at, not evidence
SLOPES = ("gradient × input", "integrated gradients")
DRAWN = ("lime", "sampled shap")  # at random, so that another seed gives other numbers (see `is_drawn`)
METHODS = ("leave-one-out", *SLOPES, "lime", "shap", "sampled shap", *LOOKS)
QUICK = ("leave-one-out", *SLOPES, *LOOKS)  # for a short text


@dataclass(frozen=True)
class Explanation:
    """What each token is worth to a prediction by one method.

    scores: float64 [token of `trace.tokens`, then of `trace.target`], NaN for those that were not asked about. Above 0: it speaks
    for the prediction, in nats of its log-probability; of the two `LOOKS`, a share of what is looked at, never below 0.
    difference: what the scores should sum to, None where a method promises nothing. passes: texts that the model read, or passes
    forward and back; seconds: that it took here. kind: which numbers these are: of SHAP "enumerated" (Shapley values, from every
    choice of tokens), "sampled" (estimates of them) or "tree" (Owen values over a tree of neighbours); of gradient × input "layer
    input" or "token embedding", which the slope is taken against; of others "". draws: of what is sampled the estimate of each
    random order, float64 [order, token], whose mean the scores are; else None.
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
        """The standard error of the sum of the scores of each group of tokens, from how far the random orders are apart: float64
        [group], NaN as the scores; None where nothing was sampled."""
        if self.draws is None:
            return None
        asked = [[token for token in group if not np.isnan(self.scores[token])] for group in groups]
        sums = np.stack([self.draws[:, group].sum(1) for group in asked], axis=1)  # [order, group]
        return np.where([not group for group in asked], np.nan, sums.std(0, ddof=1) / np.sqrt(len(sums)))


def explain(
    question: Question,
    method: str,
    seed: int = 0,
    texts: int | None = None,
    report: Report | None = None,
    tokens_alone: bool = False,
) -> Explanation:
    """Ask which tokens speak for a prediction, by one of `METHODS`.

    seed: what `DRAWN` methods draw with; texts: how many changed texts LIME and SHAP may read, None for `passes_needed`. report:
    is told how far it is. tokens_alone: of gradient × input, the slope against the vectors of tokens before positions are added
    (see `analysis.slopes`). Errors: ValueError for another method, where nothing was typed, and where the model does not give
    what the method needs.
    """
    if method not in METHODS:
        raise ValueError(f"The method must be one of {', '.join(METHODS)}; it is {method!r}.")
    if not question.units:
        raise ValueError("There is no token that could be taken away. Type a few words.")
    if method in ("lime", *SLOPES):  # before the clock runs: libraries take long the first time
        import_module("captum.attr")
    elif method == "shap" or (method == "sampled shap" and is_drawn(method, len(question.units))):
        ready()
    began, asked = time.perf_counter(), replace(question, _known={})  # what another method has read is not free here
    units, texts = asked.units, texts or passes_needed(method, len(asked.units))
    if method in LOOKS:
        looks = Attribution(asked.model, asked.trace, asked.position, asked.token, against=asked.against)
        labels = asked.model.info.labels
        if method == "rollout" and labels and labels.pooled:  # the label is made of every row
            found = rollout(asked.trace.attention["self"])[-1].mean(0)
        else:
            found = asked.of_tokens(looks.scores(method))
        return _explained(asked, method, range(len(found)), found, texts, began)
    if method in SLOPES:
        return _by_slope(asked, method, texts, report, tokens_alone, began)
    if method == "leave-one-out":
        return _explained(asked, method, units, leave_one_out(asked, report), asked.texts, began)
    if method == "lime":
        return _explained(asked, method, units, lime(asked, texts, seed, report), asked.texts, began)
    kind, draws = "tree" if method == "shap" else "sampled" if is_drawn(method, len(units)) else "enumerated", None
    if kind == "sampled":
        draws = sampled_shap(asked, ORDERS, seed, report)
        values = draws.mean(0)
    else:
        values = shap(asked, texts, report) if kind == "tree" else enumerated_shap(asked, report)
    none, full = asked.evidence(np.array([np.zeros(len(units), bool), np.ones(len(units), bool)]))
    explained = _explained(asked, method, units, values, asked.texts, began, float(full - none))
    return replace(explained, kind=kind, draws=None if draws is None else _placed(asked, units, draws))


def _by_slope(asked: Question, method: str, passes: int, report: Report | None, tokens_alone: bool, began: float) -> Explanation:
    if method == SLOPES[0]:
        found = asked.of_tokens(gradient_times_input(asked, report, tokens_alone))[asked.units]
        explained = _explained(asked, method, asked.units, found, passes, began)
        return replace(explained, kind="token embedding" if tokens_alone or not adds_to_tokens(asked) else "layer input")
    found = asked.of_tokens(integrated_gradients(asked, report=report))[asked.units]
    first, last = ends(asked)
    return _explained(asked, method, asked.units, found, passes, began, last - first)


def _explained(
    question: Question, method: str, places: Sequence[int], found: np.ndarray, passes: int, began: float,
    difference: float | None = None,
) -> Explanation:  # fmt: skip
    return Explanation(method, _placed(question, places, found), passes, time.perf_counter() - began, difference)


def _placed(question: Question, places: Sequence[int], values: np.ndarray) -> np.ndarray:
    """Values [..., place] among all tokens [..., token], NaN for the others."""
    placed = np.full((*values.shape[:-1], len(question.trace.tokens) + len(question.trace.target)), np.nan)
    placed[..., list(places)] = values
    return placed


def is_drawn(method: str, units: int) -> bool:
    """Whether a method draws at random where so many units can go: few enough are enumerated by SHAP."""
    return method in DRAWN and not (method == "sampled shap" and units <= ENUMERATED)


def passes_needed(method: str, units: int) -> int:
    """How many texts a method reads, at most, or how often it reads one forward and back, where so many units can go."""
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
) -> np.ndarray:
    """What each token of a text is worth to a prediction: float64 [token], NaN for those that were not asked about.

    method: one of `METHODS`. position: of `trace.read`, where is predicted (for an encoder that of a mask; of a text that is
    labelled there is one alone); token: an id, or the number of a label, None for the likeliest one; against: why this one rather
    than that one; target: what an encoder-decoder has said, which follows its source in
    the result. tokens_alone: as `explain`. What the numbers mean: see `Explanation`.
    Errors: as `explain` and `Question`; ValueError for a position, token or label that is not there.
    """
    trace = model.trace(text, target)
    if not -len(trace.read) <= position < len(trace.read):
        raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
    labels = model.info.labels
    position = model.places(trace)[0] if labels and not labels.each else position % len(trace.read)
    logits = trace.scores_at(position)
    if logits is not None:
        token = int(logits.argmax()) if token is None else token
        if strange := [one for one in (token, against) if one is not None and not 0 <= one < len(logits)]:
            raise ValueError(f"There is no {'label' if labels else 'token'} {strange[0]}: they are 0 to {len(logits) - 1:,}.")
    question = Question(model, trace, position, token or 0, against)
    return explain(question, method, seed, tokens_alone=tokens_alone).scores


def agreement(found: Sequence[Explanation], units: Sequence[int]) -> np.ndarray:
    """Spearman's rank correlation of the scores of each two methods: float64 [method, method].

    units: positions that all were asked about. NaN where a method gives the same everywhere.
    """
    ranked = [one.scores[list(units)] for one in found]
    pairs = [[rank_correlation(one, other) for other in ranked] for one in ranked]
    return np.array([[np.nan if pair is None else pair for pair in row] for row in pairs])


def spread(question: Question, method: str, seeds: int = 5, report: Report | None = None) -> np.ndarray:
    """The scores of a method that draws at random, with each of some seeds: float64 [seed, token]. Errors: as `explain`."""
    rows = []
    for seed in range(seeds):

        def part(share: float, words: str, seed: int = seed) -> None:
            if report:
                report((seed + share) / seeds, f"seed {seed + 1} of {seeds}: {words}")

        rows.append(explain(question, method, seed, report=part).scores)
    return np.array(rows)
