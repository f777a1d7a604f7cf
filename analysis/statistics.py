"""What a head's weights are like, in a few numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.trace import Attention


def entropy_of(weights: np.ndarray) -> np.ndarray:
    """-Σ p ln p along the last axis, in nats (0 ln 0 = 0): 0 when all goes to one key, ln k when k keys share evenly.

    weights: float [..., key], rows that sum to 1. Source: Shannon 1948.
    """
    weights = np.asarray(weights, dtype=np.float64)
    return -(weights * np.log(np.where(weights > 0, weights, 1.0))).sum(axis=-1)


def entropy(attention: Attention) -> np.ndarray:
    """Entropy of every row of attention, in nats: float64 [layers, heads, query]."""
    return np.stack([entropy_of(attention[layer]) for layer in range(attention.layers)])


@dataclass(frozen=True)
class HeadSummary:
    """Where one head looks on the mean over the queries after the first (which has no choice): shares of one, entropy in nats.

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
    seen = np.maximum(1, (weights > 0).sum(axis=-1))
    from_ = min(1, len(weights) - 1)
    return HeadSummary(
        first=float(weights[from_:, 0].mean()),
        previous=float(np.diagonal(weights, -1).mean()) if from_ else None,
        itself=float(np.diagonal(weights)[from_:].mean()),
        next=float(np.diagonal(weights, 1)[from_:].mean()) if len(weights) > 1 + from_ else 0.0,
        entropy=float(entropy_of(weights)[from_:].mean()),
        even=float(np.log(seen)[from_:].mean()),
    )
