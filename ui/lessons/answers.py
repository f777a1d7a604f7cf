"""The right answers of lessons' questions, as a model gives them: each is computed once for all who ask."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from threading import Lock
from typing import Any

from analysis.true_answers import Answer, answer
from ui import state
from ui.lessons.files import Step
from ui.memory import loaded

NUMBER = re.compile(r"−?\d+(\.\d+)?")  # as one among choices is written


def measure_answer(step: Step, model: str, name: str, given: Mapping[str, Any]) -> Answer:
    """Compute a model's answer about the text that a step sets. Errors: as `answer`."""
    return compute_answer(model, loaded.model(model).condition, name, texts(step), tuple(given.items()))


class Computation:
    """An answer that several visitors may wait for: it is computed once, under its lock."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.answer: Answer | None = None


@lru_cache(maxsize=512)
def computation(
    model: str, condition: int | None, name: str, text: tuple[str, str], given: tuple[tuple[str, Any], ...]
) -> Computation:
    return Computation()


def compute_answer(
    model: str, condition: int | None, name: str, text: tuple[str, str], given: tuple[tuple[str, Any], ...]
) -> Answer:
    """Return an answer, computed once for all who ask the same: a class asks at the same time, and waits for one computation.
    condition: of the network, so that a changed network is asked again. Errors: as `answer`."""
    shared = computation(model, condition, name, text, given)
    with shared.lock:
        if shared.answer is None:
            with loaded.shelf.reading(model) as network:
                shared.answer = answer(network, name, *text, **dict(given))
        return shared.answer


def texts(step: Step) -> tuple[str, str]:
    """Return the texts that a step sets, which its question is about."""
    return step.link.get(state.TEXT.name, state.TEXT.default), step.link.get(state.TARGET.name, state.TARGET.default)


def in_words(value: object) -> str:
    named = ("Yes" if value else "No") if isinstance(value, bool) else value
    if isinstance(named, int | float):
        return f"{named:g}"
    return str(named) if NUMBER.fullmatch(str(named)) else f"“{named}”"
