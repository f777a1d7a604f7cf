"""Settings of page "Generate", and the generated or calculated results for its boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from models.generation.generate import Search, Step
from models.generation.strategy import Strategy

if TYPE_CHECKING:
    from analysis.loops import Escape, WayOut
    from analysis.step_cost import StepCost
    from analysis.step_time import Speeds, StepTime


class Beginning(NamedTuple):
    """The beginning of a continuation: the name of the model, the text, an encoder-decoder's answer so far, and whether the text
    is read as a turn of a chat."""

    name: str
    text: str
    target: str = ""
    chat: bool = False


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    strategy: how the next token is chosen; most: how many tokens a run may have; beam: the number of the shown answer of a
    search, from 0.
    """

    strategy: Strategy
    most: int = 40
    beam: int = 0


@dataclass(frozen=True)
class Grown:
    """A text with its generated tokens, at one moment: a run may add tokens to the visitor's continuation meanwhile.

    lines: the branches, each the steps of its tokens; current: the number of the branch on screen; at: the number of the selected
    step, None for the next one; following: the next step, None if none follows, or the error that prevented it; end_reason: the
    reason why none follows; why: the reason why the last run ended; running: whether a run is in progress.
    """

    beginning: Beginning
    lines: Sequence[Sequence[Step]] = ((),)
    current: int = 0
    at: int | None = None
    following: Step | Exception | None = None
    end_reason: str = ""
    why: str = ""
    running: bool = False

    @property
    def steps(self) -> Sequence[Step]:
        return self.lines[self.current]

    @property
    def next_step(self) -> Step | None:
        """The next step; None if none follows. Errors: those of the model."""
        if isinstance(self.following, Exception):
            raise self.following
        return self.following

    @property
    def selected_step(self) -> Step | None:
        """The step whose scores are on screen: the selected one, the next one, or the last one of a text that has ended."""
        if self.at is not None and self.at < len(self.steps):
            return self.steps[self.at]
        return self.next_step or (self.steps[-1] if self.steps else None)


@dataclass(frozen=True)
class CannotGrow:
    """This model does not continue a text."""


@dataclass(frozen=True)
class Above:
    """The words above the text. own_answer: whether the box holds the model's own answer; begun: whether it has tokens here."""

    own_answer: bool
    begun: bool


@dataclass(frozen=True)
class Branches:
    """All branches of a text, side by side."""

    grown: Grown


@dataclass(frozen=True)
class Looped:
    """A text that loops: its last steps, the way out, and the penalty that breaks the loop, None if unknown."""

    remedy: Escape
    solution: WayOut | None = None


@dataclass(frozen=True)
class Cached:
    """The cache of keys and values of a text."""

    grown: Grown


@dataclass(frozen=True)
class Cost:
    """The cost of one more token. read, source: how many tokens the decoder and the encoder have read; times: None until they are
    measured."""

    cost: StepCost
    read: int
    source: int
    times: StepTime | None = None


@dataclass(frozen=True)
class Measured:
    """The seconds of one more token, with the cache and without it, and the speed of this machine; None if the model ends its
    text here."""

    timing: tuple[float, float, Speeds] | None


@dataclass(frozen=True)
class Unsearched:
    """No search has begun. button: the label of the one that begins it."""

    button: str


@dataclass(frozen=True)
class Searched:
    """A beam search at one step. reached: how many steps are on screen; ended: why it ended, "" before its last step."""

    beginning: Beginning
    step: Step
    reached: int
    ended: str = ""

    @property
    def search(self) -> Search:
        assert self.step.search is not None, "a step of a search"
        return self.step.search


@dataclass(frozen=True)
class Searching:
    """The words above the tree of a search."""

    searched: Searched


@dataclass(frozen=True)
class Tree:
    """The tree of a search."""

    searched: Searched


@dataclass(frozen=True)
class Answers:
    """The best answers of a search."""

    searched: Searched


@dataclass(frozen=True)
class Beam:
    """One beam of a search, as a text that was generated."""

    grown: Grown


Reading = (
    Grown | CannotGrow | Above | Branches | Looped | Cached | Cost | Measured | Unsearched | Searching | Tree | Answers | Beam
)
