"""Attributions of a prediction to tokens by reading changed texts: leave-one-out, LIME and SHAP."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from math import comb
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.attribution_tests import Question, Report

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = 64  # changed texts that a library asks for together
FEWEST = 500  # texts that LIME and SHAP may read, of short texts
ORDERS = 10  # in which sampled SHAP puts the tokens back
ENUMERATED = 8  # units, up to which Shapley values are calculated from every one of the 2ⁿ texts
WIDTH = 0.25  # of LIME's kernel over 1 − the cosine, as in Ribeiro's package for texts
_SHAP = threading.Lock()  # SHAP seeds numpy's global generator, so one thread at a time uses it


def leave_one_out(question: Question, report: Report | None = None) -> np.ndarray:
    """Return the loss of evidence without each unit alone: nats, float64 [unit]."""
    count = len(question.units)
    full, *without = question.evidence(np.concatenate([np.ones((1, count), bool), ~np.eye(count, dtype=bool)]), report)
    return full - np.array(without)


def lime(question: Question, texts: int, seed: int = 0, report: Report | None = None) -> np.ndarray:
    """Return each unit's weight in a linear model fitted to the evidence of random texts: nats, float64 [unit].

    Each text keeps each unit with a probability of one half. Texts that keep more count more: e^(−d²/2w²), where d is one minus
    the cosine to the whole text and w = 0.25. The linear model is a ridge regression (α = 1), fitted by captum's LIME.
    Source: Ribeiro, Singh and Guestrin 2016, "Why Should I Trust You?".
    """
    import torch
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr import LimeBase
    from captum.attr._core.lime import get_exp_kernel_similarity_function

    draw, half = torch.Generator().manual_seed(seed), torch.full((1, len(question.units)), 0.5)
    step, report_count = _counting(report, texts)

    def evidence_of(keep: Tensor) -> Tensor:
        step(len(keep))
        return torch.from_numpy(question.evidence(keep.numpy() > 0.5, report_count))

    explainer = LimeBase(
        evidence_of,
        SkLearnRidge(alpha=1.0),
        get_exp_kernel_similarity_function("cosine", WIDTH),
        lambda *_, **__: torch.bernoulli(half, generator=draw),
        True,
        lambda keep, *_, **__: keep,
        None,
    )
    all_units = torch.ones(1, len(question.units))
    return explainer.attribute(all_units, n_samples=texts, perturbations_per_eval=AT_ONCE)[0].double().numpy()


def shap(question: Question, texts: int, report: Report | None = None) -> np.ndarray:
    """Return Shapley values over a tree of neighbours (Owen values), by shap's partition explainer: nats, float64 [unit].

    The value of a group of neighbours is divided between its halves, and so on down to single units; once `texts` are used up,
    the value of a group is divided evenly. The values sum to the evidence of the whole text less that of the empty text.
    Source: Lundberg and Lee 2017, "A Unified Approach to Interpreting Model Predictions"; Owen 1977.
    """
    explainers, maskers = _shap()
    count = len(question.units)
    if count == 1:  # shap's tree has no leaf then
        return leave_one_out(question, report)
    masker = maskers.Partition(np.zeros((1, count)), clustering=neighbours(count))
    explainer = explainers.PartitionExplainer(_reader(question, texts, report), masker)
    explanation: Any = explainer(np.ones((1, count)), max_evals=texts, batch_size=AT_ONCE, silent=True)
    return explanation.values[0]


def enumerated_shap(question: Question, report: Report | None = None) -> np.ndarray:
    """Return Shapley values from every choice of units, without sampling error: nats, float64 [unit]. It reads 2ⁿ texts.

    φ_i = Σ over S without i of |S|! (n − |S| − 1)! / n! · (v(S with i) − v(S)).
    Source: Shapley 1953, "A Value for n-Person Games".
    """
    count = len(question.units)
    number = np.arange(2**count)
    keep = (number[:, None] >> np.arange(count)) & 1 == 1  # [choice, unit]
    evidence, sizes = question.evidence(keep, report), keep.sum(1)
    shares = np.array([1 / (count * comb(count - 1, size)) for size in range(count)])
    values = np.empty(count)
    for unit in range(count):
        without = number[~keep[:, unit]]
        gains = evidence[without | 1 << unit] - evidence[without]
        values[unit] = gains @ shares[sizes[without]]
    return values


def sampled_shap(question: Question, orders: int = ORDERS, seed: int = 0, report: Report | None = None) -> np.ndarray:
    """Return each unit's gain in random orders, the mean over both directions, by shap's permutation explainer: nats, float64
    [order, unit]. The mean over orders estimates the Shapley values.

    Each order sums to the evidence of the whole text less that of the empty text.
    Source: Castro, Gómez and Tejada 2009, "Polynomial calculation of the Shapley value based on sampling".
    """
    explainers, maskers = _shap()
    count = len(question.units)
    if count == 1:
        return leave_one_out(question, report)[None]
    texts, calls = orders * (2 * count + 1), []
    reader = _reader(question, texts, report)

    def record(keep: np.ndarray) -> np.ndarray:
        evidence = reader(keep)
        calls.append((keep > 0.5, evidence))
        return evidence

    with _SHAP:
        masker = maskers.Independent(np.zeros((1, count)))
        explainer = explainers.PermutationExplainer(record, masker, seed=seed)
        explainer(np.ones((1, count)), max_evals=texts, batch_size=AT_ONCE, silent=True)
    keep, evidence = (np.concatenate(part) for part in zip(*calls, strict=True))
    changes = np.diff(keep.astype(int), axis=0)  # 1 where a unit came, −1 where it went
    gains = changes * np.diff(evidence)[:, None]
    return gains.T[changes.T != 0].reshape(count, orders, 2).mean(-1).T


@cache
def _shap() -> tuple[ModuleType, ModuleType]:
    """Return shap's modules of explainers and of maskers.

    shap stores the errors of missing libraries, and their tracebacks keep everything alive that waits for its import, such as a
    visitor's text and model. So it is imported on a separate thread that holds nothing else.
    """
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(_import_shap).result()


def _import_shap() -> tuple[ModuleType, ModuleType]:
    """Import shap without compiling its loops over masks: numba takes seven seconds for that, and a text of a hundred tokens
    would gain ten milliseconds. With umap-learn installed they are compiled, because its own loops must be."""
    config: Any = import_module("numba.core.config")
    before = config.DISABLE_JIT
    try:
        config.DISABLE_JIT = before or find_spec("umap") is None
        return import_module("shap.explainers"), import_module("shap.maskers")
    finally:
        config.DISABLE_JIT = before


@cache
def ready() -> None:
    """Import shap and use it once, because its first use takes seconds."""
    explainers, maskers = _shap()
    full, empty = np.ones((1, 3)), np.zeros((1, 3))
    explainers.PartitionExplainer(lambda keep: keep.sum(1), maskers.Partition(empty, clustering=neighbours(3)))(full, silent=True)
    with _SHAP:
        explainers.PermutationExplainer(lambda keep: keep.sum(1), maskers.Independent(empty))(full, silent=True)


def neighbours(count: int) -> np.ndarray:
    """Return a tree over units in a row, neighbours joined first, in scipy's format: float64 [count − 1, 4]."""
    level, rows = [(i, 1) for i in range(count)], []
    height = 0
    while len(level) > 1:
        height += 1
        parents = []
        for (left, left_size), (right, right_size) in zip(level[::2], level[1::2], strict=False):
            rows.append([left, right, height, left_size + right_size])
            parents.append((count + len(rows) - 1, left_size + right_size))
        level = parents + level[len(level) - len(level) % 2 :]
    return np.array(rows, dtype=float).reshape(-1, 4)


def _reader(question: Question, texts: int, report: Report | None) -> Any:
    """Return a function from shap's masks, 1 for a unit that stays and 0 for another, to the evidence."""
    step, report_count = _counting(report, texts)

    def evidence_of(keep: np.ndarray) -> np.ndarray:
        step(len(keep))
        return question.evidence(keep > 0.5, report_count)

    return evidence_of


def _counting(report: Report | None, texts: int) -> tuple[Any, Report | None]:
    """Return a function that counts the texts read, and a report of their share."""
    done = 0

    def step(more: int) -> None:
        nonlocal done
        done = min(texts, done + more)
        report_count(0.0, "")

    def report_count(share: float, words: str) -> None:
        if report:
            report(done / texts, f"{done:,} of {texts:,} changed texts read")

    return step, report_count
