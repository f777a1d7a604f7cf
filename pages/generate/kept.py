"""All that visitors have let grow, bounded, so that a full room does not fill the memory."""

from __future__ import annotations

from threading import Lock
from typing import Protocol

from models.bounded import Bounded
from ui.memory import visitors

ONE, BYTES = "what has grown", 256 * 2**20  # of all visitors' texts


class Growing(Protocol):
    @property
    def bytes(self) -> int:
        """What it holds in memory."""

    def let_go(self) -> None:
        """Hold nothing large any more."""


_lock, store = Lock(), Bounded[str, Growing](1, BYTES)


def keep(visitor: str, grown: Growing) -> None:
    """Count what a visitor has let grow. Where all visitors' texts take too much, those are let go that nobody has shown for the
    longest."""
    with _lock:
        before = everybody()
        store.keep(visitor, ONE, grown)
        gone = [other for owner, other in before.items() if owner != visitor and not store.of(owner)]
    for other in gone:
        other.let_go()


def keep_for(here: visitors.Here) -> None:
    """Let go of what those have let grow who are gone."""
    with _lock:
        before = everybody()
        store.keep_for(here)
        gone = [other for owner, other in before.items() if not store.of(owner)]
    for other in gone:
        other.let_go()


def everybody() -> dict[object, Growing]:
    return {owner: store.of(owner)[ONE] for owner in store.owners}


visitors.leaving.append(keep_for)
