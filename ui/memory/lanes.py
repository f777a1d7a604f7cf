"""Threads that run models: slow models never use all of them, and no work runs for a visitor who has left."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any, TypeVar

from models.errors import Cancelled
from ui.memory import visitors
from ui.memory.turns import handed_on

T = TypeVar("T")
A = TypeVar("A")

LONG = 0.5  # seconds of a core that one piece of work takes, from which on its model counts as one that takes long
REMEMBERED = 30.0  # seconds for which it does
AT_ONCE = 32  # of those that wait, at most so many are worked off together: more would wait longer than they gain


@dataclass(frozen=True)
class Waiting:
    """An item that waits to be worked on together with others. given: its input; outcome: its result, or its error."""

    visitor: str
    given: Any
    outcome: Future = field(default_factory=Future)


class Lanes:
    """Runs work on permanent threads. Slow models share all threads but one. Safe to use from many threads."""

    def __init__(self, threads: int, initializer: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._quick = ThreadPoolExecutor(threads, thread_name_prefix="forward", initializer=initializer)
        self._slow = ThreadPoolExecutor(max(1, threads - 1), thread_name_prefix="slow forward", initializer=initializer)
        self._clock, self._lock = clock, Lock()
        self._slow_until: dict[str, float] = {}  # by the names of models
        self._waiting: dict[Hashable, deque[Waiting]] = {}  # by what they wait for, while work of that kind goes on

    def run(self, name: str, work: Callable[..., T], *given: object) -> T:
        """Run `work` for this visitor with the model of that name, and return its result. Errors: those of the work; Cancelled if
        the visitor has left before its turn."""
        return self._pool(name).submit(self._do, name, visitors.me(), work, *given).result()

    def run_together(self, name: str, work: Callable[[list[A]], Sequence[T | Exception]], given: A, kind: Hashable) -> T:
        """Run `work` on this input together with all others that wait at the same moment; it returns a result or an error for
        each.

        The first input begins at once. Only one work of a kind runs at a time; inputs that arrive meanwhile wait for its end and
        are then worked on together. Errors: as `run`.
        """
        mine = Waiting(visitors.me(), given)
        with self._lock:
            begins = kind not in self._waiting
            self._waiting.setdefault(kind, deque()).append(mine)
        if begins:
            self._begin(name, kind, work)
        with nullcontext() if begins else handed_on():  # so that more texts come together
            result: T = mine.outcome.result()
        return result

    def _begin(self, name: str, kind: Hashable, work: Callable[[list[Any]], Sequence[Any]]) -> None:
        try:
            self._pool(name).submit(self._work_off, name, kind, work)
        except RuntimeError as error:  # the server ends
            with self._lock:
                waiting = self._waiting.pop(kind)
            for entry in waiting:
                entry.outcome.set_exception(error)

    def _pool(self, name: str) -> ThreadPoolExecutor:
        return self._slow if self.is_slow(name) else self._quick

    def is_slow(self, name: str) -> bool:
        with self._lock:
            now = self._clock()
            self._slow_until = {model: until for model, until in self._slow_until.items() if now < until}
            return name in self._slow_until

    def _work_off(self, name: str, kind: Hashable, work: Callable[[list[Any]], Sequence[Any]]) -> None:
        """Work on all waiting inputs; those that arrive meanwhile come later, behind the work for other models."""
        with self._lock:
            waiting = self._waiting[kind]
            batch = [waiting.popleft() for _ in range(min(AT_ONCE, len(waiting)))]
        try:
            self._answer(name, work, batch)
        except BaseException as error:  # nobody may wait for ever
            for entry in batch:
                if not entry.outcome.done():
                    entry.outcome.set_exception(error)
        with self._lock:
            goes_on = bool(waiting)
            if not goes_on:
                del self._waiting[kind]
        if goes_on:
            self._begin(name, kind, work)

    def _answer(self, name: str, work: Callable[[list[Any]], Sequence[Any]], batch: Sequence[Waiting]) -> None:
        """Do the work for the visitors who are still here, and give each their outcome."""
        here = []
        for entry in batch:
            if visitors.is_here(entry.visitor):
                here.append(entry)
            else:
                entry.outcome.set_exception(Cancelled())
        outcomes = self._measure(name, partial(work, [entry.given for entry in here])) if here else ()
        for entry, outcome in zip(here, outcomes, strict=True):
            if isinstance(outcome, Exception):
                entry.outcome.set_exception(outcome)
            else:
                entry.outcome.set_result(outcome)

    def _do(self, name: str, visitor: str, work: Callable[..., T], *given: object) -> T:
        if not visitors.is_here(visitor):
            raise Cancelled
        return self._measure(name, partial(work, *given))

    def _measure(self, name: str, work: Callable[[], T]) -> T:
        """Return the result of the work, and note whether its model is slow."""
        begun = time.thread_time()
        try:
            return work()
        finally:
            if time.thread_time() - begun > LONG:
                with self._lock:
                    self._slow_until[name] = self._clock() + REMEMBERED
