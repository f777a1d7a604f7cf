"""Trainings take turns, a step each, on a few threads that all of them share.

After a training's step that took a thousand times as long as the others' steps, the others go on until each has had as much time.
A thread for each training would hold memory of its own for the numbers of a step: a class of sixty would take 200 MB more.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol
from weakref import WeakKeyDictionary

NICE = 5  # the niceness of threads with long work, so that typing goes first
SHARE = 0.5  # seconds of computing by which one may be ahead of the others


def stand_back() -> None:
    """Restrict this thread to one core, and to times when no typing visitor needs it."""
    import torch

    torch.set_num_threads(1)
    with suppress(OSError, AttributeError):  # only some systems let a single thread stand back
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + NICE)


class Stepper(Protocol):
    """A training, or anything else that does its work in steps."""

    def take_turn(self) -> bool:
        """Do a step; return whether another one is wanted."""


class Turns:
    """A pool with a fixed number of threads, each of which runs only while something waits. Safe to use from many threads.

    prepare: called on each thread before its first turn.
    """

    def __init__(self, threads: int, prepare: Callable[[], None] = lambda: None) -> None:
        self._threads, self._prepare = threads, prepare
        self._changed = threading.Condition()
        self._waiting: deque[Stepper] = deque()
        self._running: list[Stepper] = []
        self._alive = 0
        # The seconds that each has computed; those of a newcomer begin with the fewest of those who are there.
        self._used: WeakKeyDictionary[Stepper, float] = WeakKeyDictionary()

    def ask(self, stepper: Stepper) -> None:
        """Let it take turns from now on, after those that asked before. Errors: RuntimeError where no thread can be started."""
        with self._changed:
            if self._alive < self._threads:
                try:
                    threading.Thread(target=self._work, name="live training", daemon=True).start()
                    self._alive += 1
                except RuntimeError:  # the system gives no more threads
                    if not self._alive:
                        raise
            least = min((self._used[other] for other in [*self._waiting, *self._running]), default=0.0)
            self._used[stepper] = max(least, self._used.get(stepper, 0.0))
            self._waiting.append(stepper)

    def leave(self, stepper: Stepper) -> None:
        """Give it no more turns, and wait for the end of its current turn, not for those of others."""
        with self._changed:
            self._changed.wait_for(lambda: stepper not in self._running)
            with suppress(ValueError):
                self._waiting.remove(stepper)

    def _next(self) -> Stepper | None:
        """Return whose turn it is now; None where nobody waits, and this thread ends."""
        with self._changed:
            if not self._waiting:
                self._alive -= 1
                return None
            stepper = min(self._waiting, key=lambda other: self._used[other] // SHARE)  # the first of those who have had least
            self._waiting.remove(stepper)
            self._running.append(stepper)
            return stepper

    def _work(self) -> None:
        with suppress(Exception):  # unprepared they go on, too: without a thread everybody would wait for ever
            self._prepare()
        while (stepper := self._next()) is not None:
            goes_on, began = False, time.monotonic()
            try:
                goes_on = stepper.take_turn()
            except Exception:
                logging.getLogger(__name__).exception("A training has failed")
            finally:
                with self._changed:
                    self._running.remove(stepper)
                    self._used[stepper] += time.monotonic() - began
                    if goes_on:
                        self._waiting.append(stepper)
                    self._changed.notify_all()


shared = Turns(max(1, (os.cpu_count() or 2) - 1), stand_back)  # of all trainings, so that a core is left for the pages
