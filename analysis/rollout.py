"""Attention rollout: how much of each input token reaches each position, block by block."""

from __future__ import annotations

import numpy as np

from models.trace import Attention

FUSIONS = {"mean": np.mean, "max": np.max, "min": np.min}


def rollout(attention: Attention, fusion: str = "mean", residual: float = 0.5) -> np.ndarray:
    """Self-attention multiplied up through the layers, with the residual connection as an identity beside it.

    fusion: how the heads of a layer become one matrix, "mean" | "max" | "min"; its rows are scaled to sum to 1. residual: the
    share of the identity, in 0..1. Returns float64 [layers, query, key]: row l is blocks 0..l multiplied up, each row sums to 1.
    Errors: ValueError for another fusion or share, or for attention whose queries are not its keys.
    Source: Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers".
    """
    if fusion not in FUSIONS:
        raise ValueError(f"fusion must be one of {', '.join(FUSIONS)}; it is {fusion!r}.")
    if not 0 <= residual <= 1:
        raise ValueError(f"residual must be from 0 to 1; it is {residual}.")
    count = len(attention.queries)
    if count != len(attention.keys):
        raise ValueError("Rollout needs self-attention: here the queries and the keys are different texts.")
    reached, found = np.eye(count), []
    for layer in range(attention.layers):
        heads = FUSIONS[fusion](attention[layer].astype(np.float64), axis=0)
        total = heads.sum(-1, keepdims=True)
        heads = np.divide(heads, total, out=np.eye(count), where=total > 0)  # "min" may leave a row empty
        reached = (residual * np.eye(count) + (1 - residual) * heads) @ reached
        found.append(reached)
    return np.stack(found)
