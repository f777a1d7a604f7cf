"""Limits for one visitor: none at home, and defaults on a public host (HEADLIGHT_PUBLIC=1) unless a setting overrides them."""

from __future__ import annotations

import logging
import math
import os
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock

TEXT, JOBS, TRAININGS = "HEADLIGHT_TEXT", "HEADLIGHT_JOBS", "HEADLIGHT_TRAININGS"
MODELS, REQUESTS, PAGES = "HEADLIGHT_MODELS", "HEADLIGHT_REQUESTS", "HEADLIGHT_PAGES"
ON_A_PUBLIC_HOST = {
    TEXT: 5_000,  # characters of a text box
    JOBS: 4,  # pieces of long work of a page at a time
    TRAININGS: 1,  # of a browser that run at a time
    MODELS: 12,  # that a browser has brought into memory within an hour
    REQUESTS: 20,  # presses a second on a page, over a longer time; what comes faster waits
    PAGES: 120,  # open at a time from one address: a class may share one
}
HOUR = 3600.0
_warned_of: set[str] = set()


def is_public(environment: Mapping[str, str] = os.environ) -> bool:
    """Return whether this is a public host: HEADLIGHT_PUBLIC=1."""
    return environment.get("HEADLIGHT_PUBLIC", "").strip().lower() in ("1", "yes", "on", "true")


def most(name: str, environment: Mapping[str, str] = os.environ) -> float:
    """Return a limit: its setting, else a public host's default, else infinity. 0 allows nothing, but for `TEXT`."""
    setting = environment.get(name, "").strip()
    if setting.isascii() and setting.isdecimal():
        return int(setting)
    if setting and name not in _warned_of:
        _warned_of.add(name)
        logging.getLogger(__name__).warning("A setting is no whole number, so it counts as that of a public host: %s", name)
    return ON_A_PUBLIC_HOST[name] if setting or is_public(environment) else math.inf


def characters() -> int | None:
    """Return the most characters of a text box, as Streamlit takes it: None for no limit."""
    return None if math.isinf(bound := most(TEXT)) else int(bound)


class RecentUse:
    """The different items that each visitor took in the last hour. Safe to use from many threads."""

    def __init__(self, visitors: int = 10_000, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock, self._visitors = clock, Lock(), visitors
        self._taken: OrderedDict[Hashable, dict[Hashable, float]] = OrderedDict()  # who took something last comes last

    def take(self, who: Hashable, what: Hashable, bound: float) -> bool:
        """Return whether a visitor may take an item: at most `bound` different ones an hour. If so, it is counted."""
        with self._lock:
            now = self._clock()
            times = {thing: time_taken for thing, time_taken in self._taken.pop(who, {}).items() if now < time_taken + HOUR}
            allowed = what in times or len(times) < bound
            if allowed:
                times.setdefault(what, now)
            self._taken[who] = times
            while len(self._taken) > self._visitors:
                self._taken.popitem(last=False)
            return allowed
