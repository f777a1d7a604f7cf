"""Value-weighted attention: the length of the vectors that a token adds to another."""

from __future__ import annotations

import numpy as np

from analysis.routes import Step
from models.language_model import LanguageModel
from models.trace import Trace


def value_weights(model: LanguageModel, trace: Trace, step: Step | tuple[str, int]) -> np.ndarray:
    """Return ‖Σ_h P_h[q, k] v_h[k] W_O,h‖, the length of what a key adds to a query through all heads: float32 [1, query, key].

    The heads' vectors are summed before the length is taken, so parts that cancel do not count; a dimension of size one replaces
    the heads. step: a `Step`, or the kind of attention and the layer. v includes its bias, W_O is without its own, which is the
    same for all keys. Errors: ValueError if values or W_O are unknown.
    Source: Kobayashi et al. 2020, "Attention is Not Only a Weight: Analyzing Transformers with Vector Norms".
    """
    kind, layer = (step.kind, step.layer) if isinstance(step, Step) else step
    attention = trace.attention[kind]
    value, output = attention.v(layer), model.output_weights(kind, layer)
    vectors = np.matmul(value, output).transpose(1, 0, 2).astype(np.float64)  # [key, heads, d_model]
    products = vectors @ vectors.transpose(0, 2, 1)  # [key, heads, heads], which saves a vector for each query and key
    weights = attention[layer].transpose(2, 1, 0).astype(np.float64)  # [key, query, heads]
    squares = ((weights @ products) * weights).sum(-1)  # [key, query]
    return np.sqrt(np.maximum(squares, 0.0)).T[None].astype(np.float32)
