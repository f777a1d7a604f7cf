"""The comparison of two texts: the effect of a piece of one text on the answer of the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from analysis.patches import Patches
from ui.look import Look
from ui.picture.picture import Picture
from viz.tokens import named


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
        """Everything that the effects depend on."""
        texts = [tuple(token.id for token in (*look.trace.tokens, *look.trace.target)) for look in (self.look, self.other)]
        choices = (self.part, self.measure, self.direction, self.kind, self.position, self.answers)
        return ("texts", self.look.model.info.name, *texts, len(self.look.trace.tokens), self.look.second, *choices)

    def spell(self, token: int) -> str:
        return named(self.look.outcome(token)).replace("*", r"\*")

    def chance(self, name: str, token: int) -> float:
        """Return the probability of a token in the "clean" or the "corrupt" text."""
        return float(np.exp(self.patches.logs[name][token]))

    def picture(self, recipe: Callable, part: str, title: str, options: dict[str, Any], **fields: Any) -> Picture:
        """Return a picture of this comparison. fields: further fields of `Picture`."""
        first, second = (self.look.model.token_text(token) for token in self.answers)
        arguments = {
            "part": self.part,
            "direction": self.direction,
            "kind": self.kind,
            "position": self.position,
            "answers": self.answers,
            "cell": self.cell,
            **options,
        }
        about = f"“{named(first)}” and “{named(second)}”"
        return Picture(
            recipe,
            (self.look, self.other),
            arguments,
            "change-texts",
            title=title,
            words=about,
            part=part,
            takes=("model", "trace"),
            **fields,
        )
