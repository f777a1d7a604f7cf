"""The pattern of each head in one text, and orders of heads that place similar ones side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis.heads import looks
from analysis.merging import merge
from analysis.statistics import choosing, entropy_of, keys_in_sight, with_missing_heads
from models.numbers.ragged import stacked
from models.trace import Attention, Trace

if TYPE_CHECKING:
    import pandas as pd

CLEAR = 0.4  # from this share on, a pattern names its head
BROAD = 0.85  # of the entropy of equal weights
_PLACES = ("previous", "current", "next", "first")
_REPEATS = ("duplicate", "induction")
_SIDE = 16  # spans of the text on which heads are compared, at most
_OPTIMAL = 400  # heads; the best order of more leaves takes too long


def patterns(attention: Attention) -> pd.DataFrame:
    """Return a table of where each head looks in this text: a row for each head, in the order of layers, with these columns.

    layer, head. Means over the queries after the first (which has no choice), in cross-attention over all: entropy, nats; even:
    the entropy if each query shared evenly among the keys that it can see; distance: Σ A |query − key|, tokens; special: the
    share on special tokens; previous, current, next, first, duplicate, induction: shares of one, as `analysis.heads.looks`
    defines them.
    pattern: the name of the largest share if that is at least 0.4 ("special": special tokens other than the first token), else
    "broad" (entropy at least 85 % of even) or "mixed"; "" for a head that the layer does not have. Shares of places, repeats and
    distance are NaN in cross-attention, where queries are not keys, and where no query can be compared. Layers are computed one
    at a time.
    """
    import pandas as pd  # here, because it takes long to import and a first page needs none

    itself, rows = attention.queries == attention.keys, choosing(attention)
    special = np.array([token.special for token in attention.keys], dtype=bool)
    distances = np.abs(np.subtract.outer(np.arange(len(attention.queries)), np.arange(len(attention.keys))))[rows]
    tables = []
    for layer in range(attention.layers):
        weights = attention[layer]
        nothing = np.full(len(weights), np.nan)
        table = {"layer": np.full(len(weights), layer), "head": np.arange(len(weights))}
        table["entropy"] = entropy_of(weights[:, rows]).mean(-1)
        table["even"] = np.log(keys_in_sight(weights[:, rows])).mean()
        table["distance"] = np.einsum("hqk,qk->h", weights[:, rows], distances) / len(distances) if itself else nothing
        table |= _looks(attention, layer) if itself else dict.fromkeys(_PLACES + _REPEATS, nothing)
        table["special"] = weights[:, rows][..., special].sum(-1).mean(-1)
        tables.append(pd.DataFrame(table))
    heads = with_missing_heads(pd.concat(tables, ignore_index=True), attention)
    beyond = heads["special"] - (heads["first"] if itself and special[:1].any() else 0)
    heads["pattern"] = np.where(heads["entropy"].isna(), "", _names(heads.assign(special=beyond)))
    return heads


def order(attention: Attention, by: str = "layer", table: pd.DataFrame | None = None) -> np.ndarray:
    """Return the heads of a model in another order: int64 [layers x heads], a permutation; head h of layer l is l · heads + h.

    by: "layer": unchanged. "similarity": heads that look alike side by side: the leaves of a hierarchical clustering (average
    linkage; the best order of leaves up to 400 heads, Bar-Joseph et al. 2001) by the Hellinger distance between their rows, with
    the text in 16 spans. "pattern": by its name, the clearest first. Or a column of numbers of `patterns`: "entropy" and
    "distance" rise, shares fall; NaN comes last. table: the result of `patterns` for the same attention, if already known. Raises
    ValueError for any other name.
    """
    count = attention.layers * attention.heads
    if by == "layer":
        return np.arange(count)
    if by == "similarity":
        return _alike(attention)
    numbers = ("entropy", "distance", *_PLACES, *_REPEATS, "special")
    if by not in (*numbers, "pattern"):
        raise ValueError(f"Heads cannot be ordered by {by!r}: give layer, similarity, pattern, {', '.join(numbers)}.")
    table = patterns(attention) if table is None else table
    if by == "pattern":
        shares = table[[*_PLACES, *_REPEATS, "special"]].max(axis=1).fillna(0)
        return np.lexsort([-shares, table["pattern"]])
    values = table[by].to_numpy(dtype=float)
    return np.argsort(values if by in ("entropy", "distance") else -values, kind="stable")


def _looks(attention: Attention, layer: int) -> dict[str, np.ndarray]:
    alone = attention.only(layer)
    if len(attention.queries) == 1:  # there is nothing but itself to look at
        return dict.fromkeys(_PLACES + _REPEATS, np.full(alone.heads, np.nan)) | {"current": alone[0][:, 0, 0].astype(float)}
    shares = looks(Trace("", attention.queries, {"self": alone}, {}))
    return {name: shares[name][0] for name in _PLACES + _REPEATS}


def _names(table: pd.DataFrame) -> np.ndarray:
    shares = table[[*_PLACES, *_REPEATS, "special"]]
    best = shares.fillna(-1).to_numpy().argmax(-1)
    clear = shares.fillna(-1).to_numpy().max(-1) >= CLEAR
    broad = np.where((table["even"] > 0) & (table["entropy"] >= BROAD * table["even"]), "broad", "mixed")
    return np.where(clear, np.array(shares.columns)[best], broad)


def _alike(attention: Attention) -> np.ndarray:
    from scipy.cluster.hierarchy import leaves_list, linkage

    count = attention.layers * attention.heads
    if count < 3:
        return np.arange(count)
    queries, keys = _spans(len(attention.queries)), _spans(len(attention.keys))
    maps = [np.sqrt(np.maximum(0, np.nan_to_num(merge(attention[layer], queries, keys)))) for layer in range(attention.layers)]
    flat = stacked(maps).reshape(count, -1)
    present = np.flatnonzero(np.isfinite(flat).all(-1))  # heads that a layer has not come last
    leaves = present[leaves_list(linkage(flat[present], "average", optimal_ordering=count <= _OPTIMAL))]
    return np.concatenate([leaves, np.setdiff1d(np.arange(count), leaves)]).astype(np.int64)


def _spans(count: int) -> list[list[int]]:
    return [list(span) for span in np.array_split(np.arange(count), min(count, _SIDE))]
