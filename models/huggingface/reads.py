"""Where a network makes the queries, keys and values of its heads: W_Q, W_K and W_V of each attention call."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from models.huggingface.layout import Layout
from models.recorder import Record

NAMES = ("query", "key", "value")


@dataclass(frozen=True)
class Columns:
    """Of a linear map, where what it gives to each head begins."""

    module: nn.Linear | Conv1D
    starts: tuple[int, ...]
    size: int


class Reads:
    """The linear maps before each attention call, found by what they give: exactly what the heads have at the first position.

    There rotary positions turn nothing. What is normed or scaled on its way to the heads is not found: it is not this map alone.
    A map may make queries, keys and values together (GPT-2), a head's side by side or not (GPT-NeoX).
    """

    def __init__(self, layout: Layout, width: int):
        """width: of the stream that they read."""
        self.layout, self.width = layout, width
        self.found: dict[tuple[int, str], Columns] = {}  # by the number of the call, and what it is given

    @contextlib.contextmanager
    def watching(self, network: nn.Module, record: Record) -> Iterator[None]:
        """Look for the maps in a forward pass that is made, and recorded, inside the `with` block."""
        given: dict[int, list[tuple[nn.Linear | Conv1D, Tensor]]] = {}  # by the number of the call that comes next

        def note(module: nn.Linear | Conv1D, args: tuple[object, ...], out: Tensor) -> None:
            if _sizes(module)[0] == self.width and out.numel():
                given.setdefault(len(record.calls), []).append((module, out.flatten(0, -2)[0].detach()))

        maps = [module for module in network.modules() if isinstance(module, nn.Linear | Conv1D)]
        handles = [module.register_forward_hook(note) for module in maps]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
        for number, call in enumerate(record.calls):
            for name in NAMES:
                heads = getattr(call, name)
                for module, row in () if heads is None else given.get(number, ()):
                    if starts := _starts(row, heads[:, 0]):
                        self.found[number, name] = Columns(module, starts, heads.shape[-1])

    def weights(self, name: str, kind: str, layer: int, heads: int) -> np.ndarray:
        """W_Q, W_K or W_V of a layer, one a query head: float32 [heads, d_model, d_head]. Errors: ValueError without one."""
        call = [i for i, one in enumerate(self.layout.calls) if one == kind][layer]
        if (call, name) not in self.found:
            raise ValueError(f"What matrix makes each {name} of this model could not be found.")
        at = self.found[call, name]
        weight = at.module.weight.detach()
        weight = weight if isinstance(at.module, Conv1D) else weight.T  # [d_model, columns]
        each = torch.stack([weight[:, start : start + at.size] for start in at.starts])
        return each.repeat_interleave(heads // len(each), 0).float().cpu().numpy()


def _sizes(module: nn.Linear | Conv1D) -> tuple[int, int]:
    """How many numbers it reads, and how many it gives."""
    into, out = module.weight.shape if isinstance(module, Conv1D) else reversed(module.weight.shape)
    return into, out


def _starts(row: Tensor, heads: Tensor) -> tuple[int, ...] | None:
    """Where each head [head, d_head] begins in a row [columns]; None where one is not there."""
    size = heads.shape[-1]
    if len(row) < heads.numel() or len(row) % size:
        return None
    pieces = row.view(-1, size)
    found = (pieces[None] == heads[:, None]).all(-1)  # [head, piece]
    if not found.any(1).all():
        return None
    return tuple(int(piece) * size for piece in found.int().argmax(1))
