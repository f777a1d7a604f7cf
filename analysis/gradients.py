"""Attention × gradient: weights times the slope of a prediction's logit with respect to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis.routes import Paths, Step

if TYPE_CHECKING:
    from models.gradients.attention import Gradients


def relevance(weights: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the mean over heads of max(0, P · dL/dP), how strongly a logit depends on each weight: float64 [query, key].

    weights, slopes: [heads, query, key]. P · dL/dP is the logit's loss without that weight if it kept falling at this slope; a
    gain counts as 0. These are not parts of the logit and do not sum to it. Source: Chefer, Gur and Wolf 2021, "Generic
    Attention-model Explainability for Interpreting Bi-Modal and Encoder-Decoder Transformers", eq. 5.
    """
    product = np.multiply(weights, slopes, dtype=np.float32)
    return np.maximum(product, 0, out=product).mean(0, dtype=np.float64)


def relevances(ways: Paths, slopes: dict[str, Gradients], against: dict[str, Gradients] | None = None) -> list[np.ndarray]:
    """Return the `relevance` of each step. slopes: from `model.gradients`; against: those of a logit that is subtracted."""

    def slope(step: Step) -> np.ndarray:
        step_slopes = slopes[step.kind][step.layer]
        return step_slopes if against is None else step_slopes - against[step.kind][step.layer]

    return [relevance(ways.attention[step.kind][step.layer], slope(step)) for step in ways.steps]


def summed_relevance(ways: Paths, relevant: Sequence[np.ndarray]) -> np.ndarray:
    """Return attention × gradient of each token: how strongly the logit depends on all looks at it: float64 [token].

    All steps count, and a token's states in all layers count for the token.
    Source: Barkan et al. 2021, "Grad-SAM: Explaining Transformers via Gradient Self-Attention Maps", eq. 6.
    """
    sums = np.zeros(len(ways.tokens))
    for step, matrix in zip(ways.steps, relevant, strict=True):
        sums[step.keys] += matrix.sum(0)
    return sums


def gradient_rollout(ways: Paths, relevant: Sequence[np.ndarray], query: int) -> np.ndarray:
    """Return the relevance multiplied through the steps: the row of a position in R, where R ← R + Ā R at each step, beginning
    with R = I: float64 [token].

    Ā is `relevance`. The initial identity is left out at the end, because it only says that the position is itself. Source:
    Chefer, Gur and Wolf 2021, eq. 6; through cross-attention by the same rule, without the scaling of its eq. 8.
    """
    row = np.zeros(len(ways.tokens))
    row[ways.place(query)] = 1.0
    identity = row.copy()
    for step, matrix in zip(reversed(ways.steps), reversed(relevant), strict=True):
        more = row[step.queries] @ matrix
        row = row.copy()
        row[step.keys] += more
    return row - identity
