"""Runs take turns: two cores gain nothing from forty threads at once, and lose half of their time to changing between them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock

from ui.memory import addresses

PATIENCE = 2.0  # seconds, after which a run begins anyway: who has the turn may be waiting for a model
LONG = 0.5  # seconds of waiting, after which somebody who types has most likely typed on
AWAY = 30.0  # seconds after its last run, in which a network still counts as here
WHOLE = max(1, (os.cpu_count() or 2) // 4)  # whole pages of one network at once, while others are here


@dataclass(eq=False)
class Place:
    """A run in the queue, or in its turn. whole: of a whole page."""

    network: str
    whole: bool
    begins: Event = field(default_factory=Event)


_lock = Lock()
_waiting: list[Place] = []
_running: list[Place] = []
_seen: dict[str, float] = {}  # when each network asked for a run last
_free = os.cpu_count() or 2


@contextmanager
def turn(first: bool = False, whole: bool = True) -> Iterator[float]:
    """Wait until fewer runs than there are cores are in such a block; gives the seconds that this took.

    A run of a whole page is in one from its beginning, and so is its stage where that runs alone (`whole` is False).
    Who came first is next, or else the unlucky ones of a full room wait twice as long as the others. `first` goes before all: who
    has waited already and has typed on, and who leads a class. Where others are here, a network has few whole pages at once, so
    that whoever opens one after the other leaves turns to those who type elsewhere.
    """
    mine, began = _ask(first, whole), time.monotonic()
    taken = mine.begins.wait(PATIENCE) or not _give_up(mine)
    try:
        yield time.monotonic() - began
    finally:
        if taken:
            _hand_on(mine)


def _ask(first: bool, whole: bool) -> Place:
    """A place in the queue, or a turn at once."""
    mine = Place(addresses.mine(), whole and not first)
    with _lock:
        now = time.monotonic()
        for network in [other for other, then in _seen.items() if now > then + AWAY]:
            del _seen[network]
        _seen[mine.network] = now
        _waiting.insert(0 if first else len(_waiting), mine)
        _begin_next()
    return mine


def _begin_next() -> None:
    """Give what is free to those who wait."""
    global _free
    while _free and (place := next(filter(_may_begin, _waiting), None)):
        _free -= 1
        _waiting.remove(place)
        _running.append(place)
        place.begins.set()


def _may_begin(place: Place) -> bool:
    others = any(network != place.network for network in _seen)
    pages = sum(running.whole and running.network == place.network for running in _running)
    return not (place.whole and others and pages >= WHOLE)


def _give_up(mine: Place) -> bool:
    """Leave the queue; False where the turn has come in this very moment."""
    with _lock:
        if mine in _waiting:
            _waiting.remove(mine)
            return True
        return False


def _hand_on(mine: Place) -> None:
    global _free
    with _lock:
        _free += 1
        _running.remove(mine)
        _begin_next()
