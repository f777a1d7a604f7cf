"""The strength of an adapter, as the name of a model says it: "./my adapter at 50 %"."""

from __future__ import annotations

import re

STRENGTH = re.compile(r" at (\d{1,3}) %(?= \([0-9a-f]+\)$|$)")  # a key may follow, by which an app tells models apart


def strength_of(name: str) -> float:
    """Return the strength that a name says, from 0 to 1; 1 where it says none."""
    return min(int(match[1]), 100) / 100 if (match := STRENGTH.search(name)) else 1.0


def without_strength(name: str) -> str:
    """Return a name without the strength that it says."""
    return STRENGTH.sub("", name)


def with_strength(name: str, strength: float) -> str:
    """Return a name that says a strength, from 0 to 1; nothing is said of 1. It stands before the key, if there is one."""
    whole = without_strength(name)
    if strength == 1:
        return whole
    place = key.start() if (key := re.search(r" \([0-9a-f]+\)$", whole)) else len(whole)
    return f"{whole[:place]} at {100 * strength:.0f} %{whole[place:]}"
