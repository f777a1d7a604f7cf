"""Many inputs of one kind, counted by what became of them. The same seed gives the same inputs."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.fuzz import addresses, folders, texts, written


@dataclass(frozen=True)
class Kind:
    """What is tried, with what; tried: whether an input was refused, and raises for a fault. share: of 10,000 inputs."""

    inputs: Callable[[], st.SearchStrategy[Any]]
    tried: Callable[[Any], bool]
    share: int


KINDS = {
    "texts": Kind(texts.inputs, texts.tried, 2000),
    "texts on pages": Kind(texts.typed_inputs, texts.typed, 300),
    "addresses": Kind(addresses.inputs, addresses.tried, 700),
    "model folders": Kind(folders.inputs, folders.tried, 1000),
    "model folders on pages": Kind(folders.inputs, folders.shown, 100),
    "lessons": Kind(written.lessons, written.tried_lesson, 2700),
    "lessons on pages": Kind(written.shown_lessons, written.shown_lesson, 200),
    "questions of lessons": Kind(written.asking, written.asked, 1000),
    "words to know": Kind(written.lexicons, written.tried_lexicon, 2000),
}


@dataclass
class Counted:
    inputs: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)  # the input and the traceback of each


class Ended(BaseException):
    """The time is over: what is no Exception Hypothesis lets through at once."""


def run(
    kind: Kind, count: int, begins: int, seconds: float = math.inf, tell: Callable[[str], None] = lambda fault: None
) -> Counted:
    """So many inputs of a kind, or those that are tried in so many seconds. begins: the seed; tell: is given each fault when it
    is found."""
    counted, until = Counted(), time.monotonic() + seconds

    @seed(begins)
    @settings(max_examples=count, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
    @given(kind.inputs())
    def tries(case: Any) -> None:
        if time.monotonic() > until:
            raise Ended
        counted.inputs += 1
        try:
            counted.refused += kind.tried(case)
        except Exception:
            counted.faults.append(f"{case!r:.2000}\n{traceback.format_exc()}")
            tell(counted.faults[-1])

    with suppress(Ended):
        tries()
    return counted
