"""How sure a model is, and how surprised."""

from __future__ import annotations

import numpy as np

from analysis.statistics import entropy_of
from models.language_model import softmax
from models.trace import Trace


def prediction_entropy(logits: np.ndarray, temperature: float = 1.0) -> float:
    """Entropy of the softmax over the whole vocabulary, in bits. logits: [vocabulary]."""
    return float(entropy_of(softmax(logits, temperature)) / np.log(2))


def surprise(trace: Trace) -> np.ndarray:
    """-log2 of the probability that the model gave to each token before it read it, in bits: float64 [position].

    The first position is NaN: nothing came before it. Errors: ValueError without a language-model head.
    """
    if trace.logits is None:
        raise ValueError("This model makes no predictions, so no token can surprise it.")
    logits = trace.logits[:-1]
    highest = logits.max(axis=-1, initial=-np.inf)
    total = highest + np.log(np.exp(logits - highest[:, None]).sum(axis=-1, dtype=np.float64))  # log-sum-exp
    given = logits[np.arange(len(logits)), [token.id for token in trace.tokens[1:]]]
    return np.concatenate([[np.nan], (total - given) / np.log(2)])
