"""Whether a head, where it looks at a token, makes the same token more likely: read from its weights alone."""

from __future__ import annotations

import numpy as np

from models.language_model import LanguageModel
from models.ragged import stacked

ROWS = 8192  # of a vocabulary that are multiplied at once: in 64 bits all of them would be large


def copying_scores(model: LanguageModel) -> np.ndarray:
    """How much each head copies: float64 [layers, heads], from −1 (each token makes itself less likely) to 1 (it copies).

    Σλ / Σ|λ| over the eigenvalues λ of the head's whole way from a token that is looked at to the logits, W_E W_V W_O W_U
    [vocabulary, vocabulary]. The norms on the way are left out. Random weights give values around 0.
    Errors: ValueError where there are two stacks, and where one of these is not a single matrix of the model.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section on OV circuits and eigenvalues.
    """
    if model.info.kind == "encoder-decoder":
        raise ValueError(f"{model.info.name} reads in one stack and speaks in another, so copying is not measured.")
    back = product(model.unembedding(), model.embedding())
    scores = []
    for layer in range(model.info.layers):
        values, outputs = (of("self", layer).astype(np.float64) for of in (model.value_weights, model.output_weights))
        scores.append(balance(outputs @ back @ values))
    return stacked(scores)


def product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """leftᵀ right of two tables of a vocabulary [vocabulary, size]: float64 [size, size]: out by one and in by the other. The
    eigenvalues of a way from token to token are those of a [d_head, d_head] around it."""
    if left.shape != right.shape:
        raise ValueError("Tokens are read and said by tables of different sizes here, so copying is not measured.")
    found = np.zeros((left.shape[1],) * 2)
    for at in range(0, len(left), ROWS):
        found += left[at : at + ROWS].T.astype(np.float64) @ right[at : at + ROWS].astype(np.float64)
    return found


def balance(matrices: np.ndarray) -> np.ndarray:
    """Σλ / Σ|λ| of matrices [head, size, size]: float64 [head]."""
    eigenvalues = np.linalg.eigvals(matrices)
    return eigenvalues.sum(-1).real / np.maximum(np.abs(eigenvalues).sum(-1), np.finfo(np.float64).tiny)
