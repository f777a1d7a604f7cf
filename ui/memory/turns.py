"""Turns of runs: two cores gain nothing from forty threads at once, and would lose half of their time to switching."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, local

PATIENCE = 2.0  # seconds, after which a run begins anyway: who has the turn may be waiting for a model
LONG = 0.5  # seconds of waiting, after which somebody who types has most likely typed on

_lock, _waiting = Lock(), deque[Event]()
_free = os.cpu_count() or 2
_thread = local()  # turn: the one of this thread


@contextmanager
def turn(first: bool = False) -> Iterator[float]:
    """Wait until fewer runs than cores are in such a `with` block; yield the seconds that this took.

    The run of a whole page is in one from its beginning; so is the page's stage when it runs alone.
    Runs are served in order of arrival; otherwise some visitors in a full room would wait twice as long as others. Runs with
    `first` go before all: those of a visitor who has waited and typed on, and of a class's leader.
    """
    began, outer = time.monotonic(), getattr(_thread, "turn", None)
    mine = _thread.turn = Turn(first)
    try:
        yield time.monotonic() - began
    finally:
        mine.hand_on()
        _thread.turn = outer


@contextmanager
def handed_on() -> Iterator[None]:
    """Pass this thread's turn to another run while it waits for a shared computation; afterwards it is next again."""
    mine: Turn | None = getattr(_thread, "turn", None)
    if mine is None or not mine.is_mine:
        yield
        return
    mine.hand_on()
    try:
        yield
    finally:
        mine.take(first=True)


class Turn:
    """The turn of a thread. is_mine: whether it has come; a thread that has waited too long begins without a turn and passes none
    on.
    """

    def __init__(self, first: bool) -> None:
        self.is_mine = False
        self.take(first)

    def take(self, first: bool) -> None:
        """Wait for it."""
        place = _ask(first)
        self.is_mine = place.wait(PATIENCE) or not _give_up(place)

    def hand_on(self) -> None:
        if self.is_mine:
            self.is_mine = False
            _hand_on()


def _ask(first: bool) -> Event:
    """Take a turn at once, or a place in the queue."""
    global _free
    mine = Event()
    with _lock:
        if _free:
            _free -= 1
            mine.set()
        elif first:
            _waiting.appendleft(mine)
        else:
            _waiting.append(mine)
    return mine


def _give_up(mine: Event) -> bool:
    """Leave the queue; return False if the turn has come at this very moment."""
    with _lock:
        if mine in _waiting:
            _waiting.remove(mine)
            return True
        return False


def _hand_on() -> None:
    global _free
    with _lock:
        if _waiting:
            _waiting.popleft().set()
        else:
            _free += 1
