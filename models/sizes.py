"""Bytes and large numbers as people say them: one style of units, decimal."""

from __future__ import annotations


def size(bytes: int) -> str:
    """A size in words, in powers of ten: "141 GB"."""
    for unit, word in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if bytes >= unit:
            return f"{bytes / unit:.3g} {word}" if bytes < 1000 * unit else f"{bytes / unit:,.0f} {word}"
    return f"{bytes} bytes"


def file_size(bytes: int) -> str:
    """Bytes in the units that a download is spoken of: "3 kB", "548 MB", "13.8 GB" (decimal)."""
    if bytes < 999_500:
        return f"{bytes / 1e3:.0f} kB"
    if bytes < 999_500_000:
        return f"{bytes / 1e6:.0f} MB"
    return f"{bytes / 1e9:.3g} GB"


def count(number: int) -> str:
    """A large number in words: "70 thousand", "13.1 million", "20.9 billion"."""
    for power, word in ((1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if number >= 0.9995 * power:
            return f"{number / power:.3g} {word}"
    return str(number)
