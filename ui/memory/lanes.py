"""Threads that run models: slow models never use all of them, and nothing is run for a visitor who has left."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from models.errors import Cancelled
from ui.memory import visitors

T = TypeVar("T")

LONG = 0.5  # seconds of a core that one piece of work takes, from which on its model counts as one that takes long
REMEMBERED = 30.0  # seconds for which it does


class Lanes:
    """Runs work on threads that stay. Models that have taken long share one thread less than there are. Safe to use from many
    threads."""

    def __init__(self, threads: int, initializer: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._quick = ThreadPoolExecutor(threads, thread_name_prefix="forward", initializer=initializer)
        self._slow = ThreadPoolExecutor(max(1, threads - 1), thread_name_prefix="slow forward", initializer=initializer)
        self._clock, self._lock = clock, Lock()
        self._slow_until: dict[str, float] = {}  # by the names of models

    def run(self, name: str, work: Callable[..., T], *given: object) -> T:
        """What `work` gives, done for this visitor with the model of that name. Errors: those of the work; Cancelled where the
        visitor has gone before its turn."""
        pool = self._slow if self.is_slow(name) else self._quick
        return pool.submit(self._do, name, visitors.me(), work, *given).result()

    def is_slow(self, name: str) -> bool:
        with self._lock:
            now = self._clock()
            self._slow_until = {model: until for model, until in self._slow_until.items() if now < until}
            return name in self._slow_until

    def _do(self, name: str, visitor: str, work: Callable[..., T], *given: object) -> T:
        if not visitors.is_here(visitor):
            raise Cancelled
        begun = time.thread_time()
        try:
            return work(*given)
        finally:
            if time.thread_time() - begun > LONG:
                with self._lock:
                    self._slow_until[name] = self._clock() + REMEMBERED
