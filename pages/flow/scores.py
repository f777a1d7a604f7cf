"""The scores of every method on this page. They take long, so a run of the page leaves them to a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from analysis.attention_flow import pipes
from analysis.attribution import METHODS
from pages.flow.recipes import FLOW
from pages.flow.request import Request
from pages.flow.settings import Layers, Without

Report = Callable[[float, str], None]
MOST = 32  # other tokens that are taken away, for comparison


def of_methods(request: Request, titles: Mapping[str, str], report: Report) -> dict[str, np.ndarray | str]:
    """Return the scores of every method but flow [token], or a sentence if it has none.

    "slopes" is the sum of attention × gradient, and "pipes" the size of attention flow, which may take much longer.
    """
    scores: dict[str, np.ndarray | str] = {}
    several = [method for method in METHODS if method != FLOW]
    for i, method in enumerate(several):
        report(i / len(several), titles[method])
        try:
            scores[method] = request.attribution.scores(method)
        except ValueError as error:
            scores[method] = str(error)
    if isinstance(scores["attention × gradient"], np.ndarray):
        scores["slopes"] = np.array(sum(matrix.sum() for matrix in request.attribution.relevance))
    scores["pipes"] = np.array(pipes(request.attribution.ways, request.attribution.attention, request.position))
    return scores


def without(request: Request, place: int, report: Report) -> Without:
    """Return the guess without a token on screen, beside what it is without each of the others."""
    question = request.question
    if question is None:
        raise ValueError("This model makes no prediction that could change.")
    removed = np.isin(question.units, request.seen[1][place])
    others = np.flatnonzero(~removed)
    others = others[np.unique(np.linspace(0, len(others) - 1, min(MOST, len(others))).round().astype(int))]
    keep = np.vstack([~removed, ~np.eye(len(removed), dtype=bool)[others]])
    share, *shares = question.probabilities(keep, report)
    targets = [question.target(keep[0])] if question.target_read else ()
    position = request.position if request.model.info.kind == "encoder" else -1
    logits = request.model.logits_of([question.text(keep[0])], position, targets)[0]
    best = request.model.top(logits, request.position, 1)[0]
    return Without(
        request.seen[0][place].text.strip(), request.covers, float(share), float(np.mean(shares)) if shares else None, best
    )


def of_layers(request: Request, methods: Sequence[str], titles: Mapping[str, str], report: Report) -> Layers:
    """Return the scores after each layer of the methods that have an answer."""
    names: list[str] = []
    scores: list[list[np.ndarray]] = []
    for method in methods:
        report(len(names) / len(methods), titles[method])
        try:
            scores.append([request.attribution.scores(method, layer) for layer in range(request.attribution.ways.layers)])
            names.append(method)
        except ValueError:
            continue  # the page says why where the methods stand side by side
    return Layers(names, np.array(scores).transpose(1, 0, 2))
