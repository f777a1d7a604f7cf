"""Where a text repeats itself, and how much of a head's attention goes there: what duplicate and induction heads are known by."""

from __future__ import annotations

from collections.abc import Sequence

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
    return weights[..., *np.nonzero(where)].sum(-1, dtype=np.float64) / rows if rows else np.full(weights.shape[:-2], np.nan)
