"""Whether a head, where it looks at a token, makes the same token more likely: read from its weights alone."""

from __future__ import annotations

import numpy as np

from models.language_model import LanguageModel


def copying_scores(model: LanguageModel) -> np.ndarray:
    """How much each head copies: float64 [layers, heads], from −1 (each token makes itself less likely) to 1 (it copies).

    Σλ / Σ|λ| over the eigenvalues λ of the head's whole way from a token that is looked at to the logits, W_E W_V W_O W_U
    [vocabulary, vocabulary]. The norms on the way are left out. Random weights give values around 0.
    Errors: ValueError for all but transformers of our own of one stack whose embedding is their unembedding too.
    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits", section on OV circuits and eigenvalues.
    """
    model.value_weights("self", 0)  # says so where they are not known
    config = model.network.config
    if config.kind == "encoder-decoder" or not config.tied or config.head_transform:
        raise ValueError(f"{model.info.name} has no single matrix that is embedding and unembedding, so copying is not measured.")
    embedding = model.embedding().astype(np.float64)
    back = embedding.T @ embedding  # [d_model, d_model]: out by the unembedding and in again; λ are those of a [d_head, d_head]
    scores = []
    for layer in range(model.info.layers):
        values, outputs = (of("self", layer).astype(np.float64) for of in (model.value_weights, model.output_weights))
        eigenvalues = np.linalg.eigvals(outputs @ back @ values)  # [heads, d_head]
        scores.append(eigenvalues.sum(-1).real / np.maximum(np.abs(eigenvalues).sum(-1), np.finfo(np.float64).tiny))
    return np.stack(scores)
