"""Numbers of a trial in words, for its sentences and its table."""

from __future__ import annotations

from math import factorial, prod

import numpy as np

from analysis import Faithfulness
from analysis.attribution_tests import LEVEL, few
from viz.numbers import decimal


def gap_of(gap: float) -> str:
    """Return a difference of two probabilities in points, with its sign."""
    return decimal(100 * gap) if gap <= 0 else f"+{decimal(100 * gap)}"


def allowed_of(evidence: Faithfulness, method: str) -> str:
    """Say how many random orders may be as far from the average as a method's order, for a verdict."""
    allowed = evidence.allowed(method)
    return "none may" if allowed <= 0 else f"{allowed} may"


def count_methods(tried: int, listed: int) -> str:
    """Say how many methods were tried, and how many of them are listed in the table."""
    return "one method" if tried == 1 else f"{tried} methods" + (f" ({listed} of them in the table)" if listed < tried else "")


def distinct_orders(evidence: Faithfulness) -> int:
    """Return how many orders of the tokens the difference of a verdict can tell apart: those that put different tokens first at
    any of its few points."""
    sizes = np.diff([0, *few(evidence.counts), len(evidence.units)]).tolist()
    return factorial(len(evidence.units)) // prod(factorial(size) for size in sizes)


def too_few(evidence: Faithfulness) -> bool:
    """Return whether even the best order, which its reverse equals in distance from 0, is too common for a verdict after the
    correction for the number of methods."""
    return 2 / distinct_orders(evidence) > LEVEL / len(evidence.methods)
