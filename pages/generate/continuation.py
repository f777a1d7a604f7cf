"""The continuation of a text, which grows by a visitor's clicks: its tokens, its branches, and the step that is selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from threading import Lock
from typing import NamedTuple
from uuid import uuid4

from models.generation.generate import Step
from models.generation.strategy import Strategy
from pages.generate import memory
from pages.generate import state as page_state
from pages.generate.settings import Beginning, Grown
from ui.memory import loaded, visitors

BYTES = 64 * 2**20  # the most that the logits and attention of a visitor's branches may take
MOST = 400  # the most tokens of one branch
NEXT_STEPS = 8  # next steps that are remembered
ENDS = ("end", "full")  # no token follows a step that ended so


class SavedIds(NamedTuple):
    """The remains of a continuation that was dropped from memory: the ids of each branch, the number of the current branch, and
    the step of a search."""

    lines: list[list[int]]
    current: int
    reached: int


@dataclass
class Run:
    """A run, in which a branch grows by itself. most: the most tokens, counted from step `start` on; into: the branch to which
    its steps are added; ids: tokens that are forced, whatever the strategy would choose; prefix: another branch, and how many of
    its steps this one begins with; next_run: the run that follows; cancelled: whether nobody wants it any more."""

    strategy: Strategy
    most: int
    into: list[Step]
    start: int = 0
    ids: tuple[int, ...] = ()
    prefix: tuple[list[Step], int] | None = None
    next_run: Run | None = None
    cancelled: bool = False
    key: str = field(default_factory=lambda: uuid4().hex)


@dataclass
class Continuation:
    """The continuation of one text, with all its branches. lines: the branches, each a list of steps; current: the number of the
    branch on screen; at: the number of the step that is selected, None for the next one; why: the reason why the last run ended,
    "length" or "stopped"; search: the steps of a beam search; reached: how many of them are on screen; trouble: a sentence on
    what went wrong in the last run; saved_ids: the ids to generate again; opened: whether a search was begun without a click;
    used: a lock that is held while a page shows it."""

    beginning: Beginning
    lines: list[list[Step]] = field(default_factory=lambda: [[]])
    current: int = 0
    at: int | None = None
    run: Run | None = None
    why: str = ""
    search: list[Step] = field(default_factory=list)
    reached: int = 0
    trouble: str = ""
    saved_ids: SavedIds | None = None
    opened: bool = False
    used: Lock = field(default_factory=Lock, repr=False, compare=False)
    _next_steps: dict[tuple[int, ...], Step] = field(default_factory=dict)
    _beam: tuple[tuple[int, ...], Continuation] | None = None

    @property
    def steps(self) -> list[Step]:
        return self.lines[self.current]

    @property
    def ids(self) -> tuple[int, ...]:
        return self.steps[-1].continuation if self.steps else ()

    @property
    def text(self) -> str:
        """The text that was generated."""
        return self.steps[-1].text if self.steps else ""

    @property
    def end_reason(self) -> str:
        """The reason why no token follows; "" if one does."""
        last = self.steps[-1].end if self.steps else ""
        if last in ENDS:
            return last
        return "kept" if len(self.steps) >= MOST or self.is_full else ""

    @property
    def is_full(self) -> bool:
        """Whether the branches have used up their memory."""
        return bytes_of(*self.lines) >= BYTES

    @property
    def bytes(self) -> int:
        """The bytes that it holds in memory: the branches, the next steps, and a search."""
        beam = self._beam[1].lines if self._beam else ()
        return bytes_of(*self.lines, *beam, list(self._next_steps.values()), self.search)

    def let_go(self) -> None:
        """Keep only the ids, from which the model can generate the same again when a page needs it. Does nothing while a page
        shows it."""
        if not self.used.acquire(blocking=False):
            return
        try:
            self.end_run(stopped=True)
            if not self.saved_ids and (any(self.lines) or self.search):
                self.saved_ids = SavedIds([[step.token.id for step in line] for line in self.lines], self.current, self.reached)
            self.lines, self.current, self.at, self.search, self.reached = [[]], 0, None, [], 0
            self._next_steps, self._beam = {}, None
        finally:
            self.used.release()

    @property
    def next_step(self) -> Step | None:
        """The next step, from memory or else from the model; None where none follows. During a run, it is the step from memory
        until the first token is there."""
        if self.end_reason:
            return None
        if self.run:
            return None if self.steps else self._next_steps.get(())
        if self.ids not in self._next_steps:
            self._next_steps[self.ids] = loaded.next_step(*self.beginning, self.ids)
            while len(self._next_steps) > NEXT_STEPS:
                del self._next_steps[next(iter(self._next_steps))]
        return self._next_steps[self.ids]

    @property
    def selected_step(self) -> Step | None:
        """The step whose scores are on screen (see `Grown`)."""
        return self.grown().selected_step

    def grown(self) -> Grown:
        """Return the text in its present state."""
        following = self._following()  # before the steps: a run may add a token between the two
        lines = tuple(map(tuple, self.lines))
        running = self.run is not None
        return Grown(self.beginning, lines, self.current, self.at, following, self.end_reason, self.why, running)

    def _following(self) -> Step | Exception | None:
        try:
            return self.next_step
        except Exception as error:
            return error

    def go_on(self, strategy: Strategy, id: int | None = None) -> None:
        """Add one token: `id`, or by default the one that the strategy chooses."""
        step = self.next_step
        if step is None:
            return
        dart = None
        if id is None:
            id, dart = step.chosen_by(strategy)
        self.steps.append(replace(step.instead(id), strategy=strategy, dart=dart))
        self.at, self.why = None, ""

    def step_back(self) -> None:
        """Remove the last token; its scores stay in memory."""
        if self.steps:
            step = self.steps.pop()
            self._next_steps[step.continuation[:-1]] = step
        self.at, self.why = None, ""

    def branch(self, at: int, id: int) -> None:
        """Begin a branch with another token at step `at`, and make it the current one; the old branch stays."""
        line = [*self.steps[:at], self.steps[at].instead(id)]
        lines = [[step.token.id for step in other] for other in self.lines]
        if [step.token.id for step in line] in lines:
            self.current = lines.index([step.token.id for step in line])
        else:
            self.lines.append(line)
            self.current = len(self.lines) - 1
        self.at, self.why = None, ""

    def begin(self, strategy: Strategy, most: int) -> None:
        """Begin a run; a beam search begins from the text as it was typed."""
        self.trouble, self.at, self.why = "", None, ""
        if strategy.method == "beam":
            self.search, self.reached = [], 0
            self.run = Run(strategy, most, self.search)
        else:
            self.run = Run(strategy, min(most, MOST - len(self.steps)), self.steps, len(self.steps))

    def say_again(self, lines: Sequence[tuple[int, tuple[int, ...]]], strategy: Strategy) -> None:
        """Begin runs that generate known branches again. Each is given by how many steps of the first branch it begins with, and
        its own ids."""
        self.lines, self.current, self.at = [[] for _ in lines], 0, None
        for steps, (shared, ids) in reversed(list(zip(self.lines, lines, strict=True))):
            prefix = (self.lines[0], shared) if shared else None
            self.run = Run(strategy, len(ids), steps, shared, ids, prefix, self.run)

    def beam(self, ids: tuple[int, ...]) -> Continuation:
        """Return one beam of a search as a continuation of its own. The model reads it again for a row of attention for each
        token; the steps that it shares with the previous beam stay."""
        if self._beam is None or self._beam[0] != ids:
            steps = self._beam[1].steps if self._beam else []
            shared = sum(1 for _ in takewhile(lambda pair: pair[0].token.id == pair[1], zip(steps, ids, strict=False)))
            beam = Continuation(self.beginning)
            beam.run = Run(Strategy(), len(ids) - shared, beam.steps, shared, ids[shared:], (steps, shared))
            self._beam = ids, beam
        return self._beam[1]

    def end_run(self, stopped: bool = False) -> None:
        """End the run. stopped: whether a visitor stopped it before its end."""
        run, self.run = self.run, None
        if run is None:
            return
        run.cancelled = True
        self.why = "stopped" if stopped else "length" if run.into and run.into[-1].end == "length" and not run.ids else ""
        if run.strategy.method == "beam":
            self.reached = min(self.reached or len(self.search), len(self.search))
        if self.trouble and not all(self.lines):  # a branch that could not be said again
            self.lines, self.current = [line for line in self.lines if line] or [[]], 0
        if self.at is not None and self.at >= len(self.steps):  # a link asks for a token that was not said again
            self.at = None


def size(step: Step) -> int:
    """Return the bytes that a step's logits and attention take."""
    return step.logits.nbytes + sum(weights.nbytes for weights in step.attention.values())


def bytes_of(*lines: Sequence[Step]) -> int:
    """Return the bytes that branches take; steps that several of them share count once."""
    return sum(map(size, {id(step): step for line in lines for step in line}.values()))


def use(beginning: Beginning, draw: Callable[[Continuation], None]) -> None:
    """Draw this visitor's continuation of a text; meanwhile it is not dropped from memory."""
    continuation = visitor_continuation(beginning)
    with continuation.used:
        draw(continuation)


def visitor_continuation(beginning: Beginning) -> Continuation:
    """Return this visitor's continuation of that text; that of another text is dropped."""
    continuation = page_state.GENERATED.get()
    if continuation is None or continuation.beginning != beginning:
        if continuation:
            continuation.end_run(stopped=True)
        continuation = Continuation(beginning)
        page_state.GENERATED.set(continuation)
    memory.keep(visitors.me(), continuation)
    return continuation
