"""The recorder's tap of the softmax, for Hugging Face models that compute attention themselves.

These are GPT-J, BLOOM, MPT, GPT-Neo, XGLM, DeBERTa-v2, MPNet, XLNet and Falcon. The tap gives the weights, but neither queries
nor keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

from models.attention.recorded_call import Call
from models.attention.recorder import active


class SoftmaxTap(TorchFunctionMode):
    """Records every softmax that has the shape of attention, while a recorder is active in this thread.

    That is [batch, heads, query, key] or [batch · heads, query, key] over the last dimension, where heads is the model's number;
    row 0 is kept.
    """

    SOFTMAX = frozenset({torch.softmax, F.softmax, Tensor.softmax})

    def __init__(self, heads: int, batch: int = 1):
        super().__init__()
        self.heads, self.batch = heads, batch

    def __torch_function__(
        self, function: Callable[..., Any], types: Collection[type], args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        out = function(*args, **(kwargs or {}))
        if (record := active()) is None:
            return out
        if function in self.SOFTMAX:
            probabilities = out.flatten(0, 1) if out.dim() == 4 and out.shape[0] == self.batch else out
            if probabilities.dim() == 3 and probabilities.shape[0] == self.batch * self.heads:
                if record.plan is not None:
                    return record.plan.reweigh(record, probabilities.unflatten(0, (self.batch, self.heads))).reshape(out.shape)
                record.keep(Call(None, None, None, given=probabilities[: self.heads]), out)
        return out
