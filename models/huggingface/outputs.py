"""The output projections W_O of a network, which carry its heads' outputs into the residual stream, found by their inputs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
import torch
from torch import nn
from transformers.pytorch_utils import Conv1D

from models.attention.recorder import Record
from models.huggingface.layout import Layout
from models.numbers.readonly import array_of


class OutputMaps:
    """The linear map after each attention call, found by its input: exactly the outputs of the heads, side by side."""

    def __init__(self, layout: Layout):
        self.layout = layout
        self.maps: dict[int, nn.Linear | Conv1D] = {}  # by the number of the call

    @contextlib.contextmanager
    def watching(self, network: nn.Module, record: Record) -> Iterator[None]:
        """Find the maps during a recorded forward pass inside the `with` block."""

        def look(module: nn.Linear | Conv1D, args: tuple[object, ...]) -> None:
            out = record.calls[-1].out if record.calls else None
            inputs = args[0] if args else None
            if out is None or not isinstance(inputs, torch.Tensor):
                return
            rows = inputs.flatten(0, -2) if inputs.dim() > 2 else inputs
            if rows.shape == (out.shape[0], out.shape[1] * out.shape[2]) and torch.equal(rows, out.flatten(1)):
                self.maps.setdefault(len(record.calls) - 1, module)

        maps = [module for module in network.modules() if isinstance(module, nn.Linear | Conv1D)]
        handles = [module.register_forward_pre_hook(look) for module in maps]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def weights(self, kind: str, layer: int) -> np.ndarray:
        """Return W_O of a layer: float32 [heads, d_head, d_model]. Errors: ValueError where there is none."""
        call = [i for i, call_kind in enumerate(self.layout.calls) if call_kind == kind][layer]
        if call not in self.maps:
            raise ValueError("How this model carries what a head brings into the residual stream could not be found.")
        module = self.maps[call]
        weight = module.weight.detach() if isinstance(module, Conv1D) else module.weight.detach().T
        return array_of(weight.unflatten(0, (self.layout.counts[kind][layer], -1)))
