"""The prediction that experiments ask about, as a plain value."""

from __future__ import annotations

from dataclasses import dataclass

from models.trace import Trace
from ui.look import Look
from viz.tokens import named


@dataclass(frozen=True)
class Question:
    """The question why the model predicts a token at a position of `look.trace.read`, or why not the token `against`. trace: the
    text, read with the changes."""

    look: Look
    trace: Trace
    position: int
    token: int
    against: int | None = None

    @property
    def description(self) -> str:
        """The prediction in words."""
        first = f"“{self.spell(self.token)}”"
        return first if self.against is None else f"{first} rather than “{self.spell(self.against)}”"

    def spell(self, id: int) -> str:
        return named(self.look.outcome(id))

    @property
    def key(self) -> tuple:
        """Everything that the answer depends on."""
        trace, name = self.trace, self.look.model.info.name
        return (name, trace.text, self.look.second, trace.edits, self.position, self.token, self.against)
