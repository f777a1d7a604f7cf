"""Counts visitors' wrong guesses of secrets: codes of rooms and keys of trained models."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

REMEMBERED = 100_000  # guesses of all visitors together


class Guesses:
    """Wrong guesses of the last seconds, by browser and by network. Safe to use from many threads.

    own, shared: how many different guesses a browser and a network may make. A class that types the same wrong code sixty times
    has made one guess.
    """

    def __init__(
        self, own: int, shared: Callable[[], int], within: float = 60.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._own, self._shared, self._within, self._clock = own, shared, within, clock
        self._times: OrderedDict[tuple[str, str], dict[str, float]] = OrderedDict()  # by network and browser; guess: first made
        self._count, self._lock = 0, Lock()

    def __len__(self) -> int:
        return self._count

    def over(self, network: str, browser: str) -> str:
        """Return which one has reached its limit of guesses, "browser" or "network"; "" for neither."""
        with self._lock:
            if browser and self._recent((network, browser)) >= self._own:
                return "browser"
            return "network" if self._recent((network, "")) >= self._shared() else ""

    def note(self, guess: str, network: str, browser: str) -> None:
        """Count a wrong guess, each only once while it is remembered; without a network it is not counted."""
        with self._lock:
            for who in {(network, browser), (network, "")} if network else ():
                self._recent(who)
                times = self._times.setdefault(who, {})
                self._times.move_to_end(who)
                if guess not in times:
                    times[guess] = self._clock()
                    self._count += 1
            while self._count > REMEMBERED:
                self._count -= len(self._times.popitem(last=False)[1])

    def _recent(self, who: tuple[str, str]) -> int:
        """Return how many guesses still count, and forget the others."""
        times = self._times.get(who)
        if times is None:
            return 0
        for guess, then in list(times.items()):
            if self._clock() - then < self._within:
                break  # they stand in the order in which they were made
            del times[guess]
            self._count -= 1
        if not times:
            del self._times[who]
        return len(times)
