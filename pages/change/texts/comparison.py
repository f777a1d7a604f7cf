"""The comparison of two texts: what a piece of one text does to the answer of the other, and how that is measured."""

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

HERE = Path(__file__).parent.parent  # the folder of the page's words
WAIT = 20.0  # seconds; a longer measurement says so first and waits for a click
PIECES = dict(zip(state.TEXTS_PART.values, PARTS, strict=True))
INTO = dict(zip(state.TEXTS_INTO.values, DIRECTIONS, strict=True))


@dataclass(frozen=True)
class Comparison:
    """Two texts through one model, and how they are compared. position: an index of the first text's `trace.read`; answers: the
    ids of the answer and of the rival answer; cell: the selected square, row and column."""

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
        """All that the effects depend on."""
        texts = [tuple(token.id for token in (*look.trace.tokens, *look.trace.target)) for look in (self.look, self.other)]
        choices = (self.part, self.measure, self.direction, self.kind, self.position, self.answers)
        return ("texts", self.look.model.info.name, *texts, len(self.look.trace.tokens), self.look.second, *choices)

    @property
    def names(self) -> tuple[str, str]:
        """The names of the clean and the corrupt text at this level."""
        return words(HERE, "texts name clean"), words(HERE, "texts name corrupt")

    def spell(self, token: int) -> str:
        return named(self.look.outcome(token)).replace("*", r"\*")

    def chance(self, name: str, token: int) -> float:
        """Return the probability of a token in the "clean" or the "corrupt" text."""
        return float(np.exp(self.patches.logs[name][token]))

    def picture(self, recipe: Callable, part: str, title: str, options: dict[str, Any], **fields: Any) -> Picture:
        """Return a picture of this comparison. fields: further fields of `Picture`."""
        first, second = (self.look.model.token_text(token) for token in self.answers)
        arguments = {
            "part": self.part, "direction": self.direction, "kind": self.kind, "position": self.position,
            "answers": self.answers, "cell": self.cell, "simple": self.look.beginner, **options,
        }  # fmt: skip
        about = f"“{named(first)}” and “{named(second)}”"
        return Picture(
            recipe, (self.look, self.other), arguments, "change-texts", title=title, words=about, part=part,
            takes=("model", "trace"), **fields,
        )  # fmt: skip


def effects(comparison: Comparison) -> np.ndarray | None:
    """Return the effect of each piece; None while they are measured, or wait for a click. Errors: as `Patches.effects`."""
    rows, columns = comparison.patches.shape(comparison.part)
    time = effort.seconds(
        comparison.look.model.info, len(comparison.look.trace.tokens) + len(comparison.look.trace.target), rows * columns / 2
    )
    if time > WAIT and not effort.is_begun(comparison.key):
        effort.offer(f"Try all {rows * columns:,} pieces ({effort.format_duration(time)})", comparison.key)
        return None

    def work(report: jobs.Report) -> np.ndarray:
        return comparison.patches.effects(comparison.part, comparison.measure, *comparison.answers, report=report)

    return jobs.result(comparison.key, work, "Putting one piece after the other into the other text")


def patched_logs(comparison: Comparison) -> np.ndarray | None:
    """Return the base's prediction with the selected piece, ln p [vocabulary]; None without a selection, or meanwhile."""
    if comparison.cell is None:
        return None
    cell = comparison.cell

    def work(report: jobs.Report) -> np.ndarray:
        return comparison.patches.read([comparison.patches.edits(comparison.part)[cell]])[0]

    return jobs.result((*comparison.key, cell), work, "Putting the piece into the other text")
