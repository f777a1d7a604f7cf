"""What a prediction owes to each token, by reading changed texts: leave-one-out, LIME and SHAP."""

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

from analysis.perturbation import Question, Report

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = 64  # changed texts that a library asks for together
FEWEST = 500  # texts that LIME and SHAP may read, of short texts
ORDERS = 10  # in which sampled SHAP puts the tokens back
ENUMERATED = 8  # units, up to which Shapley values are calculated from every one of the 2ⁿ texts
WIDTH = 0.25  # of LIME's kernel over 1 − the cosine, as in Ribeiro's package for texts
_SHAP = threading.Lock()  # it draws from numpy's one generator, which must not be seeded twice at a time


def leave_one_out(question: Question, report: Report | None = None) -> np.ndarray:
    """How much evidence is lost without each unit alone: nats, float64 [unit]."""
    count = len(question.units)
    full, *without = question.evidence(np.concatenate([np.ones((1, count), bool), ~np.eye(count, dtype=bool)]), report)
    return full - np.array(without)


def lime(question: Question, texts: int, seed: int = 0, report: Report | None = None) -> np.ndarray:
    """The weight of each unit in a straight line that is fitted to the evidence of texts drawn at random: nats, float64 [unit].

    Each text keeps each unit with a probability of one half, and counts the more the more it keeps: e^(−d²/2w²), d one minus the
    cosine to the whole text, w = 0.25. The line is a ridge regression (α = 1), fitted by captum's LIME.
    Source: Ribeiro, Singh and Guestrin 2016, "Why Should I Trust You?".
    """
    import torch
    from captum._utils.models.linear_model import SkLearnRidge
    from captum.attr import LimeBase
    from captum.attr._core.lime import get_exp_kernel_similarity_function

    draw, half = torch.Generator().manual_seed(seed), torch.full((1, len(question.units)), 0.5)
    step, counted = _counting(report, texts)

    def read(kept: Tensor) -> Tensor:
        step(len(kept))
        return torch.from_numpy(question.evidence(kept.numpy() > 0.5, counted))

    fitted = LimeBase(
        read,
        SkLearnRidge(alpha=1.0),
        get_exp_kernel_similarity_function("cosine", WIDTH),
        lambda *_, **__: torch.bernoulli(half, generator=draw),
        True,
        lambda kept, *_, **__: kept,
        None,
    )
    whole = torch.ones(1, len(question.units))
    return fitted.attribute(whole, n_samples=texts, perturbations_per_eval=AT_ONCE)[0].double().numpy()


def shap(question: Question, texts: int, report: Report | None = None) -> np.ndarray:
    """Shapley values over a tree of neighbours (Owen values), by shap's partition explainer: nats, float64 [unit].

    What a group of neighbours brings is divided between its halves, and so on down to single units; where `texts` are used up,
    what is left of a group is divided evenly. They sum to the evidence of the whole text less that of none.
    Source: Lundberg and Lee 2017, "A Unified Approach to Interpreting Model Predictions"; Owen 1977.
    """
    explainers, maskers = _shap()
    count = len(question.units)
    if count == 1:  # shap's tree has no leaf then
        return leave_one_out(question, report)
    masker = maskers.Partition(np.zeros((1, count)), clustering=neighbours(count))
    explainer = explainers.PartitionExplainer(_reader(question, texts, report), masker)
    found: Any = explainer(np.ones((1, count)), max_evals=texts, batch_size=AT_ONCE, silent=True)
    return found.values[0]


def enumerated_shap(question: Question, report: Report | None = None) -> np.ndarray:
    """Shapley values from every choice of units, without an error of sampling: nats, float64 [unit]. It reads 2ⁿ texts.

    φ_i = Σ over S without i of |S|! (n − |S| − 1)! / n! · (v(S with i) − v(S)).
    Source: Shapley 1953, "A Value for n-Person Games".
    """
    count = len(question.units)
    number = np.arange(2**count)
    kept = (number[:, None] >> np.arange(count)) & 1 == 1  # [choice, unit]
    evidence, sizes = question.evidence(kept, report), kept.sum(1)
    shares = np.array([1 / (count * comb(count - 1, size)) for size in range(count)])
    values = np.empty(count)
    for unit in range(count):
        without = number[~kept[:, unit]]
        gains = evidence[without | 1 << unit] - evidence[without]
        values[unit] = gains @ shares[sizes[without]]
    return values


def sampled_shap(question: Question, orders: int = ORDERS, seed: int = 0, report: Report | None = None) -> np.ndarray:
    """What each unit brings in orders drawn at random, the mean of forth and back, by shap's permutation explainer: nats, float64
    [order, unit]. The mean over orders estimates the Shapley values.

    Each order sums to the evidence of the whole text less that of none.
    Source: Castro, Gómez and Tejada 2009, "Polynomial calculation of the Shapley value based on sampling".
    """
    explainers, maskers = _shap()
    count = len(question.units)
    if count == 1:
        return leave_one_out(question, report)[None]
    texts, read = orders * (2 * count + 1), []
    reader = _reader(question, texts, report)

    def noted(kept: np.ndarray) -> np.ndarray:
        evidence = reader(kept)
        read.append((kept > 0.5, evidence))
        return evidence

    with _SHAP:
        masker = maskers.Independent(np.zeros((1, count)))
        explainer = explainers.PermutationExplainer(noted, masker, seed=seed)
        explainer(np.ones((1, count)), max_evals=texts, batch_size=AT_ONCE, silent=True)
    kept, evidence = (np.concatenate(part) for part in zip(*read, strict=True))
    changes = np.diff(kept.astype(int), axis=0)  # 1 where a unit came, −1 where it went
    gains = changes * np.diff(evidence)[:, None]
    return gains.T[changes.T != 0].reshape(count, orders, 2).mean(-1).T


@cache
def _shap() -> tuple[ModuleType, ModuleType]:
    """shap's modules of explainers and of maskers. It keeps the errors of libraries that it finds missing, and with them whatever
    waits for its import, such as a visitor's text and its model: nothing waits on a thread that does nothing else."""
    with ThreadPoolExecutor(1) as alone:
        return alone.submit(_import_shap).result()


def _import_shap() -> tuple[ModuleType, ModuleType]:
    """It has numba compile its loops over masks at their first use: for seven seconds, where a text of a hundred tokens would
    gain ten milliseconds. It is kept from that, but where umap-learn may be imported meanwhile, whose loops must be compiled."""
    config: Any = import_module("numba.core.config")
    before = config.DISABLE_JIT
    try:
        config.DISABLE_JIT = before or find_spec("umap") is None
        return import_module("shap.explainers"), import_module("shap.maskers")
    finally:
        config.DISABLE_JIT = before


@cache
def ready() -> None:
    """Have shap imported, and compiled where it is compiled: both happen when it is used first, and take seconds."""
    explainers, maskers = _shap()
    whole, none = np.ones((1, 3)), np.zeros((1, 3))
    explainers.PartitionExplainer(lambda kept: kept.sum(1), maskers.Partition(none, clustering=neighbours(3)))(whole, silent=True)
    with _SHAP:
        explainers.PermutationExplainer(lambda kept: kept.sum(1), maskers.Independent(none))(whole, silent=True)


def neighbours(count: int) -> np.ndarray:
    """A tree over units in a row, neighbours joined first, as scipy writes trees: float64 [count − 1, 4]."""
    level, rows = [(i, 1) for i in range(count)], []
    height = 0
    while len(level) > 1:
        height += 1
        joined = []
        for (one, size), (other, more) in zip(level[::2], level[1::2], strict=False):
            rows.append([one, other, height, size + more])
            joined.append((count + len(rows) - 1, size + more))
        level = joined + level[len(level) - len(level) % 2 :]
    return np.array(rows, dtype=float).reshape(-1, 4)


def _reader(question: Question, texts: int, report: Report | None) -> Any:
    """The evidence of texts as shap asks for them: 1 for a unit that is kept, 0 for one that is not."""
    step, counted = _counting(report, texts)

    def read(kept: np.ndarray) -> np.ndarray:
        step(len(kept))
        return question.evidence(kept > 0.5, counted)

    return read


def _counting(report: Report | None, texts: int) -> tuple[Any, Report | None]:
    """What counts the texts that a library asked for, and a report that says how many of all they are."""
    done = 0

    def step(more: int) -> None:
        nonlocal done
        done = min(texts, done + more)
        counted(0.0, "")

    def counted(share: float, words: str) -> None:
        if report:
            report(done / texts, f"{done:,} of {texts:,} changed texts read")

    return step, counted
