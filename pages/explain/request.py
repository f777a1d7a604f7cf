"""Runs the methods in the background: one, all, or the random ones with other seeds."""

from __future__ import annotations

import numpy as np

from analysis import Explanation, explain, spread
from analysis.explaining import METHODS, SLOPES, is_drawn, passes_needed
from pages.explain.asked import TITLES, Request
from pages.explain.boards.methods import SEEDS
from pages.explain.compose import HERE
from ui import effort
from ui.memory import jobs
from ui.words import say

WAIT = 20.0  # seconds; a longer method says so first and waits for a click
BACK = 3  # a pass forward and back takes about as long as so many passes forward


def seconds(request: Request, method: str, times: int = 1) -> float:
    """Return the approximate seconds that a method takes."""
    texts = passes_needed(method, len(request.question.units)) * (BACK if method in SLOPES else 1)
    return effort.seconds(request.look.model.info, request.question.length, times * texts)


def explain_by(request: Request, method: str, tokens_alone: bool = False) -> Explanation | None:
    """Return a method's explanation; None while it runs, or waits for a click. Errors: as `analysis.explain`."""
    key, time = (*request.key, method, tokens_alone), seconds(request, method)
    if time > WAIT and not effort.is_begun(key):
        passes = passes_needed(method, len(request.question.units))
        say(HERE, "takes long", method=TITLES[method], passes=f"{passes:,}", tokens=f"{request.question.length:,}")
        effort.offer(f"Ask {TITLES[method]} ({effort.format_duration(time)})", key)
        return None
    return jobs.result(
        key,
        lambda report: explain(request.question, method, report=report, tokens_alone=tokens_alone),
        f"Asking {TITLES[method]}",
    )


def explain_by_all(request: Request) -> dict[str, Explanation | str] | None:
    """Return each method's explanation, or a sentence if it has none; None while they run, or wait for a click."""
    key, time = (*request.key, "every"), sum(seconds(request, method) for method in METHODS)
    if time > WAIT and not effort.is_begun(key):
        say(HERE, "all take long", tokens=f"{request.question.length:,}")
        effort.offer(f"Ask every method ({effort.format_duration(time)})", key)
        return None

    def work(report: jobs.Report) -> dict[str, Explanation | str]:
        explanations: dict[str, Explanation | str] = {}
        for i, method in enumerate(METHODS):

            def part(share: float, words: str, i: int = i, method: str = method) -> None:
                report((i + share) / len(METHODS), f"{TITLES[method]}: {words}")

            part(0.0, "begun")
            try:
                explanations[method] = explain(request.question, method, report=part)
            except ValueError as error:
                explanations[method] = str(error)
        return explanations

    return jobs.result(key, work, "Asking every method")


def spreads(request: Request) -> dict[str, np.ndarray] | None:
    """Return the scores of the random methods with several seeds: [seed, token]; None until they are calculated."""
    sampled = [method for method in METHODS if is_drawn(method, len(request.question.units))]
    key, time = (*request.key, "spread"), sum(seconds(request, method, SEEDS) for method in sampled)
    if time > WAIT and not effort.is_begun(key):
        effort.offer(f"Ask with {SEEDS} seeds ({effort.format_duration(time)})", key)
        return None

    def work(report: jobs.Report) -> dict[str, np.ndarray]:
        scores = {}
        for i, method in enumerate(sampled):

            def part(share: float, words: str, i: int = i, method: str = method) -> None:
                report((i + share) / len(sampled), f"{TITLES[method]}, {words}")

            scores[method] = spread(request.question, method, SEEDS, part)
        return scores

    return jobs.result(key, work, "Asking with other seeds")
