"""Where a text repeats itself, and how much of a head's attention goes there: what duplicate and induction heads are known by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


def earlier_copies(ids: Sequence[int] | np.ndarray) -> np.ndarray:
    """Which keys are the same token as the query and stand before it: bool [query, key]."""
    ids = np.asarray(ids)
    return np.tril(ids[:, None] == ids[None, :], -1)


def what_followed(ids: Sequence[int] | np.ndarray) -> np.ndarray:
    """Which keys followed an earlier copy of the query's token, any of them, and stand before the query: bool [query, key].

    An induction head looks there (Olsson et al. 2022, "prefix matching"). Of a doubled letter the second one follows the first;
    a look at itself is no look back, so it does not count.
    """
    found = np.zeros((len(ids), len(ids)), dtype=bool)
    found[:, 1:] = earlier_copies(ids)[:, :-1]
    return np.tril(found, -1)


def share_on(weights: np.ndarray, where: np.ndarray) -> np.ndarray:
    """The share of its attention that a head gives to the keys `where`, on average over the queries that have one: float64 [...].

    weights: [..., query, key]; where: bool [query, key]. NaN where no query has one.
    """
    rows = where.any(-1).sum()
    return weights[..., where].sum(-1, dtype=np.float64) / rows if rows else np.full(weights.shape[:-2], np.nan)


@dataclass(frozen=True)
class Loop:
    """The end of a text that says the same over and over. ids: the tokens of one round; start: where the first round begins;
    rounds: how often they are said, the last one perhaps in part."""

    ids: tuple[int, ...]
    start: int
    rounds: float


def loop(ids: Sequence[int], longest: int = 30, least: int = 24) -> Loop | None:
    """What a text says over and over at its end: a piece of at most `longest` tokens, twice at least, `least` tokens at least in
    all; None when it does not. The shortest such piece is taken."""
    text = np.asarray(ids)
    for period in range(1, min(longest, len(ids) // 2) + 1):
        other = np.flatnonzero(text[period:] != text[:-period])
        start = int(other[-1]) + 1 if len(other) else 0  # from there on every token is said again a period later
        if len(ids) - start >= max(2 * period, least):
            return Loop(tuple(text[start : start + period].tolist()), start, (len(ids) - start) / period)
    return None


def repeated(ids: Sequence[int], length: int = 4) -> dict[tuple[int, ...], list[int]]:
    """The runs of `length` tokens that a text says more than once, and where each begins, the most frequent first."""
    found: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for start in range(len(ids) - length + 1):
        found[tuple(ids[start : start + length])].append(start)
    return {run: starts for run, starts in sorted(found.items(), key=lambda one: -len(one[1])) if len(starts) > 1}
