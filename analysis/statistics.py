"""Statistics of a head's weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from models.numbers.ragged import stacked
from models.trace import Attention

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 64  # queries
Report = Callable[[float, str], None]  # the progress in 0..1, and in words; raises to stop


def silent(share: float, words: str) -> None:
    """Ignore a report of progress."""


def entropy_of(weights: np.ndarray) -> np.ndarray:
    """Return -Σ p ln p along the last axis, in nats (0 ln 0 = 0): 0 when all goes to one key, ln k when k keys share evenly.

    weights: float [..., key], rows that sum to 1. Source: Shannon 1948.
    """
    weights = np.asarray(weights, dtype=np.float64)
    return -(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis=-1)


def entropy(attention: Attention) -> np.ndarray:
    """Return the entropy of every row of attention, in nats: float64 [layers, heads, query]."""
    return stacked([entropy_of(attention[layer]) for layer in range(attention.layers)])


def choosing(attention: Attention) -> slice:
    """Return the queries over which to average heads: within one text all after the first, which in a decoder sees only itself
    (unless there is no other); between two texts all."""
    itself = attention.queries == attention.keys
    return slice(min(1, len(attention.queries) - 1) if itself else 0, None)


@dataclass(frozen=True)
class HeadSummary:
    """The mean looks of one head over the queries after the first (which has no choice): shares of one, entropy in nats.

    For the second query the first token and the one before are the same, so first and previous overlap there. previous: None when
    there is only one token. next: the token after, which only an encoder sees. even: the entropy if each query shared evenly
    among all keys it can see.
    """

    first: float
    previous: float | None
    itself: float
    next: float
    entropy: float
    even: float


def head_summary(weights: np.ndarray) -> HeadSummary:
    """Summarise one head of self-attention. weights: float [query, key], square, rows that sum to 1."""
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"A head of self-attention has as many queries as keys; the shape is {list(weights.shape)}.")
    visible = np.maximum(1, (weights > 0).sum(axis=-1))
    from_ = min(1, len(weights) - 1)
    return HeadSummary(
        first=float(weights[from_:, 0].mean()),
        previous=float(np.diagonal(weights, -1).mean()) if from_ else None,
        itself=float(np.diagonal(weights)[from_:].mean()),
        next=float(np.diagonal(weights, 1)[from_:].mean()) if len(weights) > 1 + from_ else 0.0,
        entropy=float(entropy_of(weights)[from_:].mean()),
        even=float(np.log(visible)[from_:].mean()),
    )


def split_attention(weights: np.ndarray) -> dict[str, float]:
    """Divide one head's attention into shares that sum to 1, each key in the first of these that fits: "itself", "previous",
    "next", "first", "rest". Means over the queries after the first. weights: float [query, key], square, of two or more tokens,
    rows that sum to 1."""
    rows = weights[1:].astype(np.float64)
    near = {"itself": np.diagonal(rows, 1), "previous": np.diagonal(rows), "next": np.diagonal(rows, 2)}
    first = rows[1:, 0]  # of the second query, the first key is the one before
    shares = {name: float(weights.sum() / len(rows)) for name, weights in (near | {"first": first}).items()}
    return shares | {"rest": max(0.0, 1.0 - sum(shares.values()))}


def keys_in_sight(weights: np.ndarray) -> np.ndarray:
    """Return how many keys each query can see: int [query], at least 1. weights: of one layer, [heads, query, key].

    A key that gets exactly 0 from every head is masked.
    """
    return np.maximum(1, (weights > 0).any(axis=0).sum(axis=-1))


def head_statistics(attention: Attention, report: Report = silent) -> pd.DataFrame:
    """Return a table of statistics of every head in this text: a row for each head, in the order of layers. Layers are computed
    one at a time.

    layer, head. Means over the queries after the first (which has no choice), as in `head_summary`; in cross-attention over all:
    entropy (nats), bits (the same, over ln 2), evenness (entropy over its maximum ln k, for k visible keys; NaN if no query sees
    two), distance (Σ A |query − key|, tokens), first, previous and itself (shares of one). NaN in cross-attention: distance,
    previous, itself.
    From a head's whole map H [query, key]: specialisation ‖H − mean of the layer's heads‖_F; diversity Σ ‖H − H_j‖_F over the
    layer's heads. Both are Frobenius norms, which grow with the length of the text. report(share, words): called with the
    progress; it may raise to stop.
    """
    import pandas as pd  # here, because it takes long to import and a first page needs none

    itself = attention.queries == attention.keys
    rows = choosing(attention)
    distances = np.abs(np.subtract.outer(np.arange(len(attention.queries)), np.arange(len(attention.keys))))[rows]
    tables = []
    for layer in range(attention.layers):
        report(layer / attention.layers, f"Layer {attention.numbers[layer]}")
        weights = attention[layer]
        spread, most = entropy_of(weights)[:, rows], np.log(keys_in_sight(weights))[rows]
        choice = most > 0
        nothing = np.full(len(weights), np.nan)
        table = {"layer": np.full(len(weights), layer), "head": np.arange(len(weights))}
        table |= {"entropy": spread.mean(-1), "bits": spread.mean(-1) / np.log(2)}
        table["evenness"] = (spread[:, choice] / most[choice]).mean(-1) if choice.any() else nothing
        table["distance"] = np.einsum("hqk,qk->h", weights[:, rows], distances) / len(distances) if itself else nothing
        table["first"] = weights[:, rows, 0].mean(-1, dtype=np.float64)
        table["previous"] = (
            np.diagonal(weights, -1, 1, 2).mean(-1, dtype=np.float64) if itself and len(attention.queries) > 1 else nothing
        )
        table["itself"] = np.diagonal(weights, axis1=1, axis2=2)[:, rows].mean(-1, dtype=np.float64) if itself else nothing
        gram = _gram(weights)
        table["specialisation"] = np.sqrt(np.maximum(0, np.diag(gram) - 2 * gram.mean(-1) + gram.mean()))
        squares = np.maximum(0, np.diag(gram)[:, None] + np.diag(gram) - 2 * gram)
        np.fill_diagonal(squares, 0)
        table["diversity"] = np.sqrt(squares).sum(-1)
        tables.append(pd.DataFrame(table))
    return with_missing_heads(pd.concat(tables, ignore_index=True), attention)


def with_missing_heads(table: pd.DataFrame, attention: Attention) -> pd.DataFrame:
    """Return a table of heads with as many rows for every layer: NaN for heads that a layer lacks."""
    import pandas as pd

    if min(attention.counts) == attention.heads:
        return table
    places = pd.MultiIndex.from_product([range(attention.layers), range(attention.heads)], names=["layer", "head"])
    return table.set_index(["layer", "head"]).reindex(places).reset_index()


def _gram(weights: np.ndarray) -> np.ndarray:
    """Return Σ H_i H_j over all cells: float64 [heads, heads], some queries at a time."""
    gram = np.zeros((len(weights), len(weights)))
    for start in range(0, weights.shape[1], AT_ONCE):
        part = weights[:, start : start + AT_ONCE].reshape(len(weights), -1).astype(np.float64)
        gram += part @ part.T
    return gram
