"""The softmax and its logarithm, in float64."""

from __future__ import annotations

import numpy as np


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Return log p along the last axis, in float64."""
    shifted = np.asarray(logits, dtype=np.float64)
    shifted = shifted - shifted.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """Return exp(z / T) over its sum along the last axis, in float64. Errors: ValueError when the temperature is not above 0."""
    if not temperature > 0:
        raise ValueError(f"The temperature must be above 0; it is {temperature}.")
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    raised = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)
