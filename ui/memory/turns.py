"""Runs take turns: two cores gain nothing from forty threads at once, and lose half of their time to changing between them."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock

PATIENCE = 2.0  # seconds, after which a run begins anyway: who has the turn may be waiting for a model
LONG = 0.5  # seconds of waiting, after which somebody who types has most likely typed on

_lock, _waiting = Lock(), deque[Event]()
_free = os.cpu_count() or 2


@contextmanager
def turn(first: bool = False) -> Iterator[float]:
    """Wait until fewer runs than there are cores are in such a block; gives the seconds that this took.

    A run of a whole page is in one from its beginning, and so is its stage where that runs alone.
    Who came first is next, or else the unlucky ones of a full room wait twice as long as the others. `first` goes before all: who
    has waited already and has typed on, and who leads a class.
    """
    mine, began = _ask(first), time.monotonic()
    taken = mine.wait(PATIENCE) or not _give_up(mine)
    try:
        yield time.monotonic() - began
    finally:
        if taken:
            _hand_on()


def _ask(first: bool) -> Event:
    """A place in the queue, or a turn at once."""
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
    """Leave the queue; False where the turn has come in this very moment."""
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
