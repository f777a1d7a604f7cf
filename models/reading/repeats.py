"""Repetitions in a text, and the share of a head's attention on them, which identifies duplicate and induction heads."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


def earlier_copies(ids: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return which keys are the same token as the query and stand before it: bool [query, key]."""
    ids = np.asarray(ids)
    return np.tril(ids[:, None] == ids[None, :], -1)


def what_followed(ids: Sequence[int] | np.ndarray) -> np.ndarray:
    """Return which keys follow any earlier copy of the query's token, and stand before the query: bool [query, key].

    An induction head looks there (Olsson et al. 2022, "prefix matching"). Of a doubled letter the second one follows the first;
    a query's own position is not before it, so it does not count.
    """
    followers = np.zeros((len(ids), len(ids)), dtype=bool)
    followers[:, 1:] = earlier_copies(ids)[:, :-1]
    return np.tril(followers, -1)


def share_on(weights: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return the share of a head's attention on the keys `where`, on average over the queries that have one: float64 [...].

    weights: [..., query, key]; where: bool [query, key]. NaN where no query has one.
    """
    rows = where.any(-1).sum()
    return weights[..., where].sum(-1, dtype=np.float64) / rows if rows else np.full(weights.shape[:-2], np.nan)


@dataclass(frozen=True)
class Loop:
    """The end of a text that repeats the same tokens. ids: the tokens of one round; start: where the first round begins; rounds:
    how often they are repeated, the last time perhaps in part."""

    ids: tuple[int, ...]
    start: int
    rounds: float


def loop(ids: Sequence[int], longest: int = 30, least: int = 24) -> Loop | None:
    """Return the loop at the end of a text: at most `longest` tokens, twice or more, and at least `least` tokens in all; None
    without one. The shortest such loop is chosen."""
    text = np.asarray(ids)
    for period in range(1, min(longest, len(ids) // 2) + 1):
        other = np.flatnonzero(text[period:] != text[:-period])
        start = int(other[-1]) + 1 if len(other) else 0  # from there on every token returns a period later
        if len(ids) - start >= max(2 * period, least):
            return Loop(tuple(text[start : start + period].tolist()), start, (len(ids) - start) / period)
    return None


def repeated(ids: Sequence[int], length: int = 4) -> dict[tuple[int, ...], list[int]]:
    """Return the runs of `length` tokens that occur more than once in a text, and where each begins, the most frequent first."""
    starts_of: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for start in range(len(ids) - length + 1):
        starts_of[tuple(ids[start : start + length])].append(start)
    return {run: starts for run, starts in sorted(starts_of.items(), key=lambda entry: -len(entry[1])) if len(starts) > 1}
