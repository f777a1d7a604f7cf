"""Copying scores: whether a head makes the token that it looks at more likely, by its weights alone."""

from __future__ import annotations

import numpy as np

from models.language_model import LanguageModel
from models.numbers.ragged import stacked

ROWS = 8192  # of a vocabulary multiplied at once: all of them in 64 bits would be large


def copying_scores(model: LanguageModel) -> np.ndarray:
    """Return how much each head copies: float64 [layers, heads], from −1 (each token makes itself less likely) to 1 (it copies).

    Σλ / Σ|λ| over the eigenvalues λ of the head's whole path from a token that it looks at to the logits, W_E W_V W_O W_U
    [vocabulary, vocabulary]. The norms on the path are left out. Random weights give values around 0. Errors: ValueError for two
    stacks, and if one of these is not a single matrix of the model.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section on OV circuits and eigenvalues.
    """
    if model.info.kind == "encoder-decoder":
        raise ValueError(f"{model.info.name} reads in one stack and speaks in another, so copying is not measured.")
    to_and_from = product(model.unembedding(), model.embedding())
    scores = []
    for layer in range(model.info.layers):
        values, outputs = (of("self", layer).astype(np.float64) for of in (model.value_weights, model.output_weights))
        scores.append(balance(outputs @ to_and_from @ values))
    return stacked(scores)


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return leftᵀ right of two tables of a vocabulary [vocabulary, size]: float64 [size, size]. The eigenvalues of a map from
    token to token equal those of a [d_head, d_head] product that contains it."""
    if left.shape != right.shape:
        raise ValueError("Tokens are read and said by tables of different sizes here, so copying is not measured.")
    sums = np.zeros((left.shape[1],) * 2)
    for at in range(0, len(left), ROWS):
        sums += left[at : at + ROWS].T.astype(np.float64) @ right[at : at + ROWS].astype(np.float64)
    return sums


def balance(matrices: np.ndarray) -> np.ndarray:
    """Return Σλ / Σ|λ| of matrices [head, size, size]: float64 [head]."""
    eigenvalues = np.linalg.eigvals(matrices)
    return eigenvalues.sum(-1).real / np.maximum(np.abs(eigenvalues).sum(-1), np.finfo(np.float64).tiny)
