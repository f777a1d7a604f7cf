"""A model's certainty and surprise, in bits."""

from __future__ import annotations

import numpy as np

from analysis.statistics import entropy_of
from models.numbers.softmax import softmax
from models.trace import Trace

AT_ONCE = 64  # positions


def prediction_entropy(logits: np.ndarray, temperature: float = 1.0) -> float:
    """Return the entropy of the softmax over the whole vocabulary, in bits. logits: [vocabulary]."""
    return float(entropy_of(softmax(logits, temperature)) / np.log(2))


def surprise(trace: Trace) -> np.ndarray:
    """Return -log2 of the probability that the model gave to each token before reading it, in bits: float64 [position of
    `trace.read`].

    The first position is NaN, because nothing comes before it. Errors: ValueError without a language-model head.
    """
    if trace.unembed is None:
        raise ValueError("This model makes no predictions, so no token can surprise it.")
    ids = np.array([token.id for token in trace.read[1:]])
    bits = np.full(len(trace.read), np.nan)
    for start in range(0, len(ids), AT_ONCE):  # a large vocabulary times a long text would not fit in memory
        logits = trace.logits_at(slice(start, min(start + AT_ONCE, len(ids))))
        assert logits is not None, "it has an unembedding"
        highest = logits.max(axis=-1)
        total = highest + np.log(np.exp(logits - highest[:, None]).sum(axis=-1, dtype=np.float64))  # log-sum-exp
        of_token = logits[np.arange(len(logits)), ids[start : start + AT_ONCE]]
        bits[1 + start : 1 + start + len(logits)] = (total - of_token) / np.log(2)
    return bits
