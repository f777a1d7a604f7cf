"""What this experiment asks: what a piece of one text does to the answer of the other, and how that is measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from analysis.patches import DIRECTIONS, PARTS, Patches
from ui import effort, state
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Picture
from ui.words import words
from viz.tokens import named

HERE = Path(__file__).parent.parent  # where the words of the page stand
WAIT = 20.0  # seconds; what takes longer says so first and waits for a press
PIECES = dict(zip(state.TEXTS_PART.values, PARTS, strict=True))
INTO = dict(zip(state.TEXTS_INTO.values, DIRECTIONS, strict=True))


@dataclass(frozen=True)
class Asked:
    """Two texts through one model, and what is chosen of them. position: of what the first text's `trace.read`; answers: the ids
    of the answer and of the one that it is held against; cell: the square that is pressed, row and column."""

    look: Look
    other: Look
    part: str
    measure: str
    direction: str
    kind: str
    position: int
    answers: tuple[int, int]
    cell: tuple[int, int] | None = None

    @cached_property
    def patches(self) -> Patches:
        return Patches(self.look.model, self.look.trace, self.other.trace, self.direction, self.kind, self.position)

    @property
    def key(self) -> tuple:
        """What the effects hang on."""
        texts = [tuple(token.id for token in (*one.trace.tokens, *one.trace.target)) for one in (self.look, self.other)]
        chosen = (self.part, self.measure, self.direction, self.kind, self.position, self.answers)
        return ("texts", self.look.model.info.name, *texts, len(self.look.trace.tokens), self.look.second, *chosen)

    @property
    def names(self) -> tuple[str, str]:
        """The clean text and the corrupt one, as this level calls them."""
        return words(HERE, "texts name clean"), words(HERE, "texts name corrupt")

    def spelt(self, token: int) -> str:
        return named(self.look.outcome(token)).replace("*", r"\*")

    def chance(self, name: str, token: int) -> float:
        """How likely a token is in the "clean" or the "corrupt" text."""
        return float(np.exp(self.patches.logs[name][token]))

    def picture(self, recipe: Callable, part: str, title: str, options: dict[str, Any], **more: Any) -> Picture:
        """A picture of what is asked here. more: of `Picture`."""
        first, second = (self.look.model.token_text(token) for token in self.answers)
        arguments = {
            "part": self.part, "direction": self.direction, "kind": self.kind, "position": self.position,
            "answers": self.answers, "cell": self.cell, "simple": self.look.beginner, **options,
        }  # fmt: skip
        about = f"“{named(first)}” and “{named(second)}”"
        return Picture(
            recipe, (self.look, self.other), arguments, "change-texts", title=title, words=about, part=part,
            takes=("model", "trace"), **more,
        )  # fmt: skip


def effects(asked: Asked) -> np.ndarray | None:
    """What each piece does; None while that is under way, or waits for a press. Errors: as `Patches.effects`."""
    rows, columns = asked.patches.shape(asked.part)
    time = effort.seconds(asked.look.model.info, len(asked.look.trace.tokens) + len(asked.look.trace.target), rows * columns / 2)
    if time > WAIT and not effort.begun(asked.key):
        effort.offer(f"Try all {rows * columns:,} pieces ({effort.lasting(time)})", asked.key)
        return None

    def work(report: jobs.Report) -> np.ndarray:
        return asked.patches.effects(asked.part, asked.measure, *asked.answers, report=report)

    return jobs.result(asked.key, work, "Putting one piece after the other into the other text")


def patched(asked: Asked) -> np.ndarray | None:
    """What the base predicts with the piece that is chosen: ln p [vocabulary]; None where none is, or while it is under way."""
    if asked.cell is None:
        return None
    cell = asked.cell

    def work(report: jobs.Report) -> np.ndarray:
        return asked.patches.read([asked.patches.edits(asked.part)[cell]])[0]

    return jobs.result((*asked.key, cell), work, "Putting the piece into the other text")
