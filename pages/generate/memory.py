"""The continuations of all visitors, bounded, so that a full room does not fill the memory."""

from __future__ import annotations

from threading import Lock
from typing import Protocol

from models.reading.bounded import Bounded
from ui.memory import visitors

NAME, BYTES = "continuation", 256 * 2**20  # the most of all visitors together


class Growing(Protocol):
    @property
    def bytes(self) -> int:
        """The bytes that it holds in memory."""

    def let_go(self) -> None:
        """Drop all large data."""


_lock, store = Lock(), Bounded[str, Growing](1, BYTES)


def keep(visitor: str, continuation: Growing) -> None:
    """Keep a visitor's continuation. If all together take too much memory, those that were on screen longest ago are dropped."""
    with _lock:
        before = by_visitor()
        store.keep(visitor, NAME, continuation)
        evicted = [other for owner, other in before.items() if owner != visitor and not store.of(owner)]
    for other in evicted:
        other.let_go()


def keep_for(here: visitors.Here) -> None:
    """Drop the continuations of the visitors who have left."""
    with _lock:
        before = by_visitor()
        store.keep_for(here)
        evicted = [other for owner, other in before.items() if not store.of(owner)]
    for other in evicted:
        other.let_go()


def by_visitor() -> dict[object, Growing]:
    return {owner: store.of(owner)[NAME] for owner in store.owners}


visitors.leaving.append(keep_for)
