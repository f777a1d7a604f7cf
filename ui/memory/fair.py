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
    """A queue of work that waits for its turn, and the work whose turn it is. Safe to use from many threads.

    at_once, of_network: how many have their turn at a time, in all and of one network. If the second is smaller, one network can
    never take every turn. A worker runs waiting work by `work_off`; work that waits because its network has its full share is run
    by the worker that ends a piece of that network's work.
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
        """Return how many wait or have their turn: of a network, and in all."""
        with self._lock:
            near = [*(entry.network for entry in self._waiting), *self._running.values()]
        return near.count(network), len(near)

    def take(self) -> T | None:
        """Return the next work: that of the network with the fewest turns now, then of the network and of its visitor whose last
        turn is longest ago. None where nothing may begin."""
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
        """Run waiting work, one piece after the other, as long as something may begin."""
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
