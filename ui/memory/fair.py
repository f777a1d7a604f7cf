"""A fair queue: networks take turns, and so do the visitors within a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T", bound=Hashable)


class _Waiting(NamedTuple):
    what: Hashable
    network: str
    who: Hashable


class Fair(Generic[T]):
    """Things that wait for their turn, and those that have it. Safe to use from many threads.

    at_once, of_network: how many have it at a time, in all and of one network. Where the second is smaller, something is left for
    others whatever a network asks for. A worker does what waits by `work_off`: what waits because its network has as many as it
    may is done by the worker that ends one of them.
    """

    def __init__(self, at_once: int, of_network: int) -> None:
        self._at_once, self._of_network, self._lock = at_once, of_network, Lock()
        self._waiting: list[_Waiting] = []
        self._running: dict[Hashable, str] = {}  # and whose network it is
        self._served: dict[Hashable, int] = {}  # when a network, or a visitor of one, had its turn last
        self._turns = 0

    def add(self, what: T, network: str, who: Hashable) -> None:
        with self._lock:
            self._waiting.append(_Waiting(what, network, who))

    def count(self, network: str) -> tuple[int, int]:
        """How many wait or have their turn: of a network, and in all."""
        with self._lock:
            near = [*(entry.network for entry in self._waiting), *self._running.values()]
        return near.count(network), len(near)

    def take(self) -> T | None:
        """What is next: of the network that has fewest turns now, and had its last longest ago; there of the visitor who had
        theirs longest ago. None where nothing may begin."""
        with self._lock:
            running = Counter(self._running.values())
            free = [entry for entry in self._waiting if running[entry.network] < self._of_network]
            if not free or len(self._running) >= self._at_once:
                return None

            def order(entry: _Waiting) -> tuple[int, int, int]:
                return running[entry.network], self._last(entry.network), self._last(entry.network, entry.who)

            first = min(free, key=order)
            self._waiting.remove(first)
            self._running[first.what] = first.network
            self._turns += 1
            still = {(entry.network, who) for entry in [*self._waiting, first] for who in (None, entry.who)}
            self._served = {key: turn for key, turn in self._served.items() if key in still}
            self._served |= {(first.network, None): self._turns, (first.network, first.who): self._turns}
            return first.what  # type: ignore[return-value]

    def work_off(self, do: Callable[[T], None]) -> None:
        """Do what waits, one after the other, as long as something may begin."""
        while (what := self.take()) is not None:
            try:
                do(what)
            finally:
                self.end(what)

    def _last(self, network: str, who: Hashable = None) -> int:
        return self._served.get((network, who), 0)

    def end(self, what: T) -> None:
        with self._lock:
            self._running.pop(what, None)
