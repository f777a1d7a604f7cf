"""A text that a visitor lets grow: what was said, the branches, and what is looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from threading import Lock
from typing import NamedTuple
from uuid import uuid4

from models.generation import Step
from models.strategy import Strategy
from pages.generate import kept
from ui import state
from ui.memory import loaded, visitors

BYTES = 64 * 2**20  # of logits and attention that a visitor's branches may take
MOST = 400  # tokens of one branch
AHEAD = 8  # readings of what comes next that are kept
ENDS = ("end", "full")  # after these nothing comes


class Beginning(NamedTuple):
    """What a text grows from: the name of the model, the text, what an encoder-decoder has said of its answer, and whether the
    text is read as a turn of a chat."""

    name: str
    text: str
    target: str = ""
    chat: bool = False


class Lost(NamedTuple):
    """What is left of a text that was let go: the ids of each branch, which one was shown, and how far a search was."""

    lines: list[list[int]]
    current: int
    reached: int


@dataclass
class Run:
    """A text that grows by itself. most: tokens, from `begun` on, that are said; into: where its steps go; given: ids that are
    said whatever the strategy would choose; front: another branch and how many of its steps this one begins with; then: the
    run that follows; over: whether nobody wants it any more."""

    strategy: Strategy
    most: int
    into: list[Step]
    begun: int = 0
    given: tuple[int, ...] = ()
    front: tuple[list[Step], int] | None = None
    then: Run | None = None
    over: bool = False
    key: str = field(default_factory=lambda: uuid4().hex)


@dataclass
class Grown:
    """What has grown from one text. lines: the branches, each its steps; current: the one that is shown; at: the step that is
    looked at, None for what comes next; why: the last run ended, "length" or "stopped"; search: the steps of a beam search;
    reached: how many of them are shown; trouble: a sentence on what went wrong in the last run; lost: what is to be said again;
    used: held while a page shows it."""

    beginning: Beginning
    lines: list[list[Step]] = field(default_factory=lambda: [[]])
    current: int = 0
    at: int | None = None
    run: Run | None = None
    why: str = ""
    search: list[Step] = field(default_factory=list)
    reached: int = 0
    trouble: str = ""
    lost: Lost | None = None
    used: Lock = field(default_factory=Lock, repr=False, compare=False)
    _ahead: dict[tuple[int, ...], Step] = field(default_factory=dict)
    _beam: tuple[tuple[int, ...], Grown] | None = None

    @property
    def steps(self) -> list[Step]:
        return self.lines[self.current]

    @property
    def said(self) -> tuple[int, ...]:
        return self.steps[-1].said if self.steps else ()

    @property
    def text(self) -> str:
        """What was said, as text."""
        return self.steps[-1].text if self.steps else ""

    @property
    def ended(self) -> str:
        """Why nothing comes after what was said; "" where something does."""
        last = self.steps[-1].end if self.steps else ""
        if last in ENDS:
            return last
        return "kept" if len(self.steps) >= MOST or self.crowded else ""

    @property
    def crowded(self) -> bool:
        """Whether what the branches keep has grown to as much as there is room for."""
        return bytes_of(*self.lines) >= BYTES

    @property
    def bytes(self) -> int:
        """What it holds in memory: the branches, what comes next, and a search."""
        beam = self._beam[1].lines if self._beam else ()
        return bytes_of(*self.lines, *beam, list(self._ahead.values()), self.search)

    def let_go(self) -> None:
        """Keep the ids alone; when it is shown again, the model says the same again. Not while a page shows it."""
        if not self.used.acquire(blocking=False):
            return
        try:
            self.end_run(stopped=True)
            if not self.lost and (any(self.lines) or self.search):
                self.lost = Lost([[step.token.id for step in line] for line in self.lines], self.current, self.reached)
            self.lines, self.current, self.at, self.search, self.reached = [[]], 0, None, [], 0
            self._ahead, self._beam = {}, None
        finally:
            self.used.release()

    @property
    def ahead(self) -> Step | None:
        """What comes next, read unless it is known; None where nothing comes. While it grows by itself, what is known until the
        first token is said."""
        if self.ended:
            return None
        if self.run:
            return None if self.steps else self._ahead.get(())
        if self.said not in self._ahead:
            self._ahead[self.said] = loaded.next_step(*self.beginning, self.said)
            while len(self._ahead) > AHEAD:
                del self._ahead[next(iter(self._ahead))]
        return self._ahead[self.said]

    @property
    def looked_at(self) -> Step | None:
        """The step whose scores are shown: the one that is chosen, what comes next, or the last one of a text that has ended."""
        if self.at is not None and self.at < len(self.steps):
            return self.steps[self.at]
        return self.ahead or (self.steps[-1] if self.steps else None)

    def go_on(self, strategy: Strategy, id: int | None = None) -> None:
        """Say one token more: as the strategy chooses, or the one that is given."""
        step = self.ahead
        if step is None:
            return
        dart = None
        if id is None:
            id, dart = step.chosen_by(strategy)
        self.steps.append(replace(step.instead(id), strategy=strategy, dart=dart))
        self.at, self.why = None, ""

    def back(self) -> None:
        """Take the last token back; its scores stay at hand."""
        if self.steps:
            step = self.steps.pop()
            self._ahead[step.said[:-1]] = step
        self.at, self.why = None, ""

    def branch(self, at: int, id: int) -> None:
        """What if it had said another token there: a branch of its own, which is shown; the old one is kept."""
        line = [*self.steps[:at], self.steps[at].instead(id)]
        same = [[step.token.id for step in other] for other in self.lines]
        if [step.token.id for step in line] in same:
            self.current = same.index([step.token.id for step in line])
        else:
            self.lines.append(line)
            self.current = len(self.lines) - 1
        self.at, self.why = None, ""

    def begin(self, strategy: Strategy, most: int) -> None:
        """Let it grow by itself; a beam search begins from the text as it was typed."""
        self.trouble, self.at, self.why = "", None, ""
        if strategy.method == "beam":
            self.search, self.reached = [], 0
            self.run = Run(strategy, most, self.search)
        else:
            self.run = Run(strategy, min(most, MOST - len(self.steps)), self.steps, len(self.steps))

    def say_again(self, lines: Sequence[tuple[int, tuple[int, ...]]], strategy: Strategy) -> None:
        """Let it say branches that are known: of each, how many steps of the first one it begins with, and the ids after them."""
        self.lines, self.current, self.at = [[] for _ in lines], 0, None
        for into, (shared, ids) in reversed(list(zip(self.lines, lines, strict=True))):
            front = (self.lines[0], shared) if shared else None
            self.run = Run(strategy, len(ids), into, shared, ids, front, self.run)

    def beam(self, ids: tuple[int, ...]) -> Grown:
        """One beginning of a search as a text of its own. It is read again, with a row for each token; what is known of it from
        the one before stays."""
        if self._beam is None or self._beam[0] != ids:
            known = self._beam[1].steps if self._beam else []
            shared = sum(1 for _ in takewhile(lambda pair: pair[0].token.id == pair[1], zip(known, ids, strict=False)))
            made = Grown(self.beginning)
            made.run = Run(Strategy(), len(ids) - shared, made.steps, shared, ids[shared:], (known, shared))
            self._beam = ids, made
        return self._beam[1]

    def end_run(self, stopped: bool = False) -> None:
        """The run has ended, or a visitor stopped it."""
        run, self.run = self.run, None
        if run is None:
            return
        run.over = True
        self.why = "stopped" if stopped else "length" if run.into and run.into[-1].end == "length" and not run.given else ""
        if run.strategy.method == "beam":
            self.reached = min(self.reached or len(self.search), len(self.search))
        if self.trouble and not all(self.lines):  # a branch that could not be said again
            self.lines, self.current = [line for line in self.lines if line] or [[]], 0
        if self.at is not None and self.at >= len(self.steps):  # a link asks for a token that was not said again
            self.at = None


def size(step: Step) -> int:
    """Bytes of what a step keeps."""
    return step.logits.nbytes + sum(one.nbytes for one in step.attention.values())


def bytes_of(*lines: Sequence[Step]) -> int:
    """Bytes of what branches keep; steps that several of them share count once."""
    return sum(map(size, {id(step): step for line in lines for step in line}.values()))


def use(beginning: Beginning, draw: Callable[[Grown], None]) -> None:
    """Show what this visitor has let grow; until that is done, nobody lets it go."""
    grown = mine(beginning)
    with grown.used:
        draw(grown)


def mine(beginning: Beginning) -> Grown:
    """What this visitor has let grow from that text; what grew from another one is let go."""
    found = state.GENERATED.get()
    if found is None or found.beginning != beginning:
        if found:
            found.end_run(stopped=True)
        found = Grown(beginning)
        state.GENERATED.set(found)
    kept.keep(visitors.me(), found)
    return found


def chance(steps: Sequence[Step]) -> float:
    """The probability that the model gives to all of these tokens together, without any control, in nats."""
    from models.decoding import log_softmax

    return float(sum(log_softmax(step.logits)[step.token.id] for step in steps))
