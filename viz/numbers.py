"""Numbers as people read them."""

from __future__ import annotations


def percent(probability: float) -> str:
    """A probability as people read it: three significant digits, never scientific notation, and number and sign on one line
    (shared/number.js agrees)."""
    hundred = 100 * float(probability)
    if not hundred >= 0:
        return "–"
    if 0 < hundred < 0.001:
        return "under 0.001\u00a0%"
    if hundred == 0:
        return "0\u00a0%"
    exponent = int(f"{hundred:.2e}".split("e")[1])  # after rounding: 9.996 has become 10.0
    return f"{hundred:.{max(0, 2 - exponent)}f}\u00a0%"
