"""Slopes of a prediction against each weight of attention: one forward and one backward pass, without a matrix of weights.

The output of a head is O = P V, P its weights and V its values. So the slope of a logit L against the weights follows from its
slope against the output, dL/dP = (dL/dO) Vᵀ, and the fused kernel may run forward and backward as it always does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from models.attention.recorded_call import Call
from models.numbers.readonly import array_of


class Gradients:
    """Slopes of a logit against the weights of one kind of attention in one trace; index it by layer, as an `Attention`."""

    def __init__(self, calls: Sequence[Call], slopes: Sequence[Tensor]):
        """calls: one a layer. slopes: dL/dO of each, [query, heads, d_head]; or dL/dP, [heads, query, key], of a call whose
        weights were `given`."""
        self.layers = len(calls)
        self._values = [None if call.given is not None or call.value is None else call.value.detach() for call in calls]
        self._slopes = [slope.detach() for slope in slopes]

    def __getitem__(self, layer: int) -> np.ndarray:
        """Return dL/dP of a layer, for weights after the softmax, masked ones too: float32 [heads, query, key]."""
        layer = range(self.layers)[layer]
        slopes, values = self._slopes[layer].float(), self._values[layer]
        if values is None:
            return array_of(slopes)
        slopes = slopes.transpose(0, 1)  # [heads, query, d_head]
        shared = values.float().transpose(1, 2)  # [kv_heads, d_head, key]
        grouped = slopes.unflatten(0, (len(shared), -1))  # [kv_heads, heads of each, query, d_head]
        return array_of((grouped @ shared[:, None]).flatten(0, 1))  # [heads, query, key]

    @property
    def nbytes(self) -> int:
        """The bytes in memory."""
        return sum(tensor.nbytes for tensor in (*self._slopes, *self._values) if tensor is not None)


def gradients(logit: Tensor, calls: dict[str, list[Call]], outs: dict[str, list[Tensor]]) -> dict[str, Gradients]:
    """Return the slopes of a logit against every weight of attention, by kind. The graph is used up.

    logit: a scalar, computed under `recording(outs=True)` in grad mode. calls, outs: the recorded ones, by kind. Weights
    that had no part in the logit have slope 0.
    """
    flat = [out for kind in calls for out in outs[kind]]
    grads = iter(torch.autograd.grad(logit, flat, allow_unused=True))
    slopes = {kind: [_first(out, next(grads)) for out in outs[kind]] for kind in calls}
    return {kind: Gradients(calls[kind], slopes[kind]) for kind in calls}


def _first(out: Tensor, slope: Tensor | None) -> Tensor:
    """Return batch row 0 of a slope; zeros where there is none."""
    slope = torch.zeros_like(out) if slope is None else slope
    return slope[0] if slope.dim() == 4 else slope
