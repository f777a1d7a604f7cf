"""The scores of every method on this page. They take long, so a run of the page leaves them to a job."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from analysis.attention_flow import pipes
from analysis.attribution import METHODS
from pages.flow.recipes import FLOW
from pages.flow.request import Request
from pages.flow.settings import Layers

Report = Callable[[float, str], None]


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
