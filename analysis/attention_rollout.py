"""Attention rollout: how much of each input token reaches each position, block by block."""

from __future__ import annotations

import numpy as np

from models.trace import Attention

FUSIONS = {  # [heads, query, key] -> [query, key]
    "mean": lambda heads: np.tensordot(np.full(len(heads), 1 / len(heads), heads.dtype), heads, 1),
    "max": lambda heads: heads.max(0),
    "min": lambda heads: heads.min(0),
}
SMALL = 64  # rows; products of smaller matrices are not split


def rollout(attention: Attention, fusion: str = "mean", residual: float = 0.5, discard: float = 0.0) -> np.ndarray:
    """Return self-attention multiplied up through the layers, with the residual connection as an identity beside it.

    fusion and discard: how the heads of a layer become one matrix (see `fuse_heads`). residual: the share of the identity, in
    0..1. Returns float64 [layers, query, key]: row l is blocks 0..l multiplied up, each row sums to 1. Errors: ValueError for
    another fusion or share, or for attention whose queries are not its keys. Source: Abnar and Zuidema 2020, "Quantifying
    Attention Flow in Transformers". For an encoder-decoder, or for one position only, see `analysis.routes`.
    """
    check_residual(residual)
    count = len(attention.queries)
    if count != len(attention.keys):
        raise ValueError("Rollout needs self-attention: here the queries and the keys are different texts.")
    products = np.empty((attention.layers, count, count))
    for layer in range(attention.layers):
        step = fuse_heads(attention[layer], fusion, discard)
        step *= 1 - residual
        step[np.diag_indices(count)] += 1 - step.sum(-1)  # the residual, and what a row without weights keeps
        products[layer] = step if layer == 0 else _product(step, products[layer - 1])
    return products


def fuse_heads(weights: np.ndarray, fusion: str = "mean", discard: float = 0.0) -> np.ndarray:
    """Return the heads of a layer as one matrix: float64 [query, key], rows scaled to sum to 1; a row of zeros stays zero.

    weights: [heads, query, key]. fusion: "mean" | "max" | "min" of the heads. discard: in 0..1, below 1; this share of the keys
    that a query sees, those with the smallest weights, is set to 0 (of equal ones the later; at least one key stays).
    Errors: ValueError for another fusion or share.
    """
    if fusion not in FUSIONS:
        raise ValueError(f"fusion must be one of {', '.join(FUSIONS)}; it is {fusion!r}.")
    if not 0 <= discard < 1:
        raise ValueError(f"discard must be from 0 to below 1; it is {discard}.")
    matrix = FUSIONS[fusion](np.asarray(weights)).astype(np.float64)
    if discard:
        visible = (matrix > 0).sum(-1, keepdims=True)
        order = np.argsort(-matrix, axis=-1, kind="stable")
        late = np.arange(matrix.shape[-1]) >= np.maximum(1, visible - np.floor(discard * visible))
        np.put_along_axis(matrix, order, np.where(late, 0.0, np.take_along_axis(matrix, order, -1)), -1)
    total = matrix.sum(-1, keepdims=True)
    return np.divide(matrix, total, out=matrix, where=total > 0)


def check_residual(residual: float) -> None:
    if not 0 <= residual <= 1:
        raise ValueError(f"residual must be from 0 to 1; it is {residual}.")


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a @ b of square matrices; where both are causal, without most of the products with zero."""
    half = len(a) // 2
    if half < SMALL or a[:half, half:].any() or b[:half, half:].any():
        return a @ b
    product = np.zeros_like(a)
    product[:half, :half] = _product(a[:half, :half], b[:half, :half])
    product[half:, half:] = _product(a[half:, half:], b[half:, half:])
    product[half:, :half] = a[half:, :half] @ b[:half, :half] + a[half:, half:] @ b[half:, :half]
    return product
