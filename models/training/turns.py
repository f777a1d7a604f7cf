"""Turns of trainings: so many run a step at once, in the order in which they asked."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass, field


@dataclass
class Place:
    """A place in the queue, until it has a turn or is left."""

    over: threading.Event = field(default_factory=threading.Event)
    has_turn: bool = False


class Turns:
    """free: how many have a turn at once. Safe to use from many threads."""

    def __init__(self, free: int) -> None:
        self._free, self._lock = free, threading.Lock()
        self._waiting: dict[Hashable, Place] = {}  # in the order in which they asked

    def take(self, who: Hashable, wanted: threading.Event) -> bool:
        """Wait for a turn, which `hand_on` ends; False, with none, where `leave` was called meanwhile or nobody wants one."""
        with self._lock:
            if not wanted.is_set():
                return False
            if self._free:
                self._free -= 1
                return True
            place = self._waiting[who] = Place()
        place.over.wait()
        return place.has_turn

    def leave(self, who: Hashable) -> None:
        """Give up a place in the queue. `wanted` of `take` is cleared before."""
        with self._lock:
            place = self._waiting.pop(who, None)
        if place:
            place.over.set()

    def hand_on(self) -> None:
        with self._lock:
            if not self._waiting:
                self._free += 1
                return
            place = self._waiting.pop(next(iter(self._waiting)))
            place.has_turn = True
        place.over.set()
