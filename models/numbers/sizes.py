"""Bytes and large numbers in words: three digits, in units that are powers of ten."""

from __future__ import annotations

BYTES = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
NUMBERS = ((10**12, "trillion"), (10**9, "billion"), (10**6, "million"))


def size(bytes: int) -> str:
    """Return a size in words: "141 GB", "13.8 MB"."""
    return in_units(bytes, BYTES) or f"{bytes} bytes"


def size_of(done: int, total: int) -> str:
    """Return how much of a size is done: "120 of 548 MB"."""
    number, _, unit = size(total).partition(" ")
    power = {word: power for power, word in BYTES}.get(unit, 1)
    return f"{done / power:.{len(number.partition('.')[2])}f} of {number} {unit}"


def count(number: int) -> str:
    """Return a large number in words: "13.1 million", "20.9 billion"; below a million in figures."""
    return in_units(number, NUMBERS) or f"{number:,}"


def in_units(number: int, units: tuple[tuple[int, str], ...]) -> str:
    """Return a number in the largest unit that it reaches; "" where it reaches none."""
    for power, word in units:
        if number >= 0.9995 * power:
            part = number / power
            return f"{part:,.0f} {word}" if part >= 999.5 else f"{part:.3g} {word}"
    return ""
