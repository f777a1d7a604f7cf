"""Settings of page "Change", and the readings and measurements for its boards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pages.change.asked import Question
from pages.change.changed_text import ChangedText
from pages.change.wrote import recipes

if TYPE_CHECKING:
    import pandas as pd

    from pages.change.circuit.recipes import Wiring
    from pages.change.circuit.settings import Settings as CircuitSettings
    from pages.change.steer.push import Push
    from pages.change.texts.comparison import Comparison


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    changes: all changes, in the text form of links; undo: whether one can be undone. tries_lines: whether to measure the effect
    of every line; all_heads: of a line in all heads. wrote_cell: the clicked part in "What wrote it".
    """

    changes: tuple[str, ...] = ()
    undo: bool = False
    tries_lines: bool = False
    all_heads: bool = False
    wrote_cell: tuple[int, int] | None = None


@dataclass(frozen=True)
class Ranking:
    """The effect of a changed head, and of the same change of every head in its place.

    nats: [head], of all layers; None if measuring takes so long that a visitor must ask for it. at: the changed head.
    """

    nats: np.ndarray | None
    at: int

    @property
    def rank(self) -> int:
        """How many heads change the prediction as much as this one, itself among them."""
        assert self.nats is not None, "it was measured"
        return int((self.nats >= self.nats[self.at]).sum())


@dataclass(frozen=True)
class Beginning:
    """The head to begin with. layer, head: its place. before, after, middle: the chance of the likeliest token with all heads,
    without this one, and without the middle one of all heads by effect; None where not every head was tried. heads: how many."""

    layer: int
    head: int
    before: float | None = None
    after: float | None = None
    middle: float | None = None
    heads: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """The layer and the head."""
        return self.layer, self.head


@dataclass(frozen=True)
class Switched:
    """The reading for "Switch off". part_effects, line_effects: None unless each part or each line was tried; ranking: None
    unless exactly one head is changed; suggested: the head to begin with, while nothing is changed."""

    changed: ChangedText
    part_effects: np.ndarray | None = None
    ranking: Ranking | None = None
    line_effects: np.ndarray | None = None
    suggested: Beginning | None = None


@dataclass(frozen=True)
class Compared:
    """The measurements for "Two texts". effects: of each piece; patched: ln p [vocabulary] with the selected piece."""

    comparison: Comparison
    effects: np.ndarray
    patched: np.ndarray | None = None


@dataclass(frozen=True)
class Written:
    """The answer for "What wrote it": what each part wrote towards the prediction, as the table of `logit_attribution`."""

    question: Question
    changed: ChangedText
    table: pd.DataFrame

    @property
    def rows(self) -> list[recipes.Row]:
        return recipes.rows_of(self.table)

    @property
    def options(self) -> dict[str, Any]:
        question, changed = self.question, self.changed
        return {
            "position": question.position,
            "token": question.token,
            "against": question.against,
            "changes": changed.text,
            "second": question.look.second,
            "other": changed.other,
        }

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers of the layers in the network."""
        return self.question.trace.numbers

    @property
    def total(self) -> float:
        return float(self.table["contribution"].sum())


@dataclass(frozen=True)
class Wired:
    """The circuit for "Circuit"."""

    settings: CircuitSettings
    wiring: Wiring


@dataclass(frozen=True)
class Steered:
    """The push for "Steer". added: the vectors of `steer.recipes.with_random`; pieces: the model's texts, as
    `steer.recipes.write` returns them; None until they are written."""

    push: Push
    added: np.ndarray
    pieces: list[list[str]] | None = None


@dataclass(frozen=True)
class Unasked:
    """No question can be asked about this text. heading: of the words that say why."""

    heading: str


@dataclass(frozen=True)
class Refused:
    """The analysis refused this model or text, with this sentence."""

    sentence: str


Reading = Switched | Compared | Written | Wired | Steered | Unasked | Refused
