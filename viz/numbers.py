"""Numbers as people read them."""

from __future__ import annotations

import numpy as np

UP = 1e-9  # of a digit


def percent(probability: float) -> str:
    """Format a probability in per cent: three significant digits, no scientific notation, and number and sign on one line (as in
    shared/number.js). Only certainty is shown as 100."""
    hundred = 100 * float(probability)
    if not hundred >= 0:
        return "–"
    if 0 < hundred < 0.001:
        return "under 0.001\u00a0%"
    if hundred == 0:
        return "0\u00a0%"
    if 99.95 <= hundred < 99.99999:  # closer than that is what rounding leaves of 100
        return "over 99.9\u00a0%"
    exponent = int(f"{hundred:.2e}".split("e")[1])  # after rounding: 9.996 has become 10.0
    return f"{hundred:.{max(0, 2 - exponent)}f}\u00a0%"


def halved(values: np.ndarray) -> np.ndarray:
    """Convert numbers to float16 for sending so that `percent` and shared/number.js still write the same three significant
    digits. With plain float16 the last digit may differ: 0.9446 would become 0.9443."""
    half = values.astype(np.float16)
    as_read = _as_read(values)
    off = np.isfinite(half) & ((_as_read(half, UP) != as_read) | (_as_read(half, -UP) != as_read))
    half[off] = as_read[off].astype(np.float16)  # between two float16 there is less room than the digits take
    return half


def _as_read(values: np.ndarray, up: float = 0.0) -> np.ndarray:
    """Round each number to three significant digits: float64; a share that is nearly 0 or 1 becomes a number that is written like
    it. up: above or below 0 if a half is rounded up or down, as JavaScript or Python does."""
    values = values.astype(np.float64)
    size = np.abs(values)
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = 10.0 ** (np.floor(np.log10(size)) - 2)
        rounded = np.where(size > 0, np.sign(values) * np.rint(size / unit + up) * unit, values)
    rounded = np.where((size > 0) & (size < 1e-5), np.sign(values) * 5e-6, rounded)
    return np.where((size >= 0.9995) & (size < 0.9999999), np.sign(values) * (1 - 2.0**-11), rounded)


def signed(share: float) -> str:
    """Format a share as `percent` does, below 0 with a minus."""
    if not share < 0:
        return percent(share)
    text = percent(-share)
    return f"over −{text.removeprefix('under ')}" if text.startswith("under") else f"−{text.removeprefix('over ')}"


def tenths(share: float) -> str:
    """Format a share in per cent with one decimal, as columns of means and their spread have it; NaN as a dash."""
    return f"{100 * share:.1f}\u00a0%".replace("-", "−") if np.isfinite(share) else "–"


def percent_or_score(probability: float, score: float, whole: bool = False) -> str:
    """Format a probability as `percent` does, or as `whole_percent`; where it is NaN, the score."""
    if probability != probability:
        return f"{score:.3g}".replace("-", "−")
    return whole_percent(probability) if whole else percent(probability)


def decimal(value: float) -> str:
    """Format a number with three significant digits, never in scientific notation; NaN as a dash."""
    if not np.isfinite(value):
        return "–"
    rounded = float(f"{value:.3g}")
    return np.format_float_positional(rounded, trim="-").replace("-", "−") if rounded else "0"


def under(value: float, places: int = 3) -> str:
    """Format a number that cannot be negative, with so many decimals: "0" only for 0 itself."""
    least = 10.0**-places
    return "0" if value == 0 else f"less than {least:.{places}f}" if value < least / 2 else f"{value:.{places}f}"


def whole_percent(probability: float) -> str:
    """Format a probability for beginners, in whole per cent. Only certainty is "100 %", and nothing above 0 is "0 %"."""
    hundred = round(100 * probability)
    if probability > 0 and hundred < 1:
        return "under 1\u00a0%"
    return "over 99\u00a0%" if hundred > 99 and probability < 1 else f"{hundred}\u00a0%"
