"""Where a network carries what its heads give into the residual stream: the output projection W_O of each attention call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from models.huggingface.layout import Layout
from models.readonly import array_of
from models.recorder import Record


class Outputs:
    """The linear map after each attention call, found by what it is given: exactly what the heads gave, side by side."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.found: dict[int, nn.Linear | Conv1D] = {}  # by the number of the call

    @contextlib.contextmanager
    def watching(self, network: nn.Module, record: Record) -> Iterator[None]:
        """Look for the maps in a forward pass that is made, and recorded, inside the `with` block."""

        def look(module: nn.Linear | Conv1D, args: tuple[object, ...]) -> None:
            out = record.calls[-1].out if record.calls else None
            read = args[0] if args else None
            if out is None or not isinstance(read, torch.Tensor):
                return
            given = read.flatten(0, -2) if read.dim() > 2 else read
            if given.shape == (out.shape[0], out.shape[1] * out.shape[2]) and torch.equal(given, out.flatten(1)):
                self.found.setdefault(len(record.calls) - 1, module)

        maps = [module for module in network.modules() if isinstance(module, nn.Linear | Conv1D)]
        handles = [module.register_forward_pre_hook(look) for module in maps]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def weights(self, kind: str, layer: int) -> np.ndarray:
        """W_O of a layer: float32 [heads, d_head, d_model]. Errors: ValueError where there is none."""
        call = [i for i, one in enumerate(self.layout.calls) if one == kind][layer]
        if call not in self.found:
            raise ValueError("How this model carries what a head brings into the residual stream could not be found.")
        module = self.found[call]
        weight = module.weight.detach() if isinstance(module, Conv1D) else module.weight.detach().T
        return array_of(weight.unflatten(0, (self.layout.counts[kind][layer], -1)))
