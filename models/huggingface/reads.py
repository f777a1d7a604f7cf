"""The maps W_Q, W_K and W_V of a network, which make queries, keys and values of the residual stream, found by their outputs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from transformers.pytorch_utils import Conv1D

from models.attention.recorder import Record
from models.huggingface.layout import Layout
from models.numbers.readonly import array_of

NAMES = ("query", "key", "value")
NormCall = tuple[nn.Module, Tensor, Tensor]  # a norm, its input and its output


CONSTANT = {torch.float32: 1e-4}  # how much a constant factor may seem to differ between tokens; more in 16 bits
UNKNOWN = "What matrix makes each {name} of this model could not be found."


@dataclass(frozen=True)
class Columns:
    """The columns of a linear map that make the vectors of each head.

    starts: the first column of each head; size: d_head. factor: what multiplies the vectors on their way, the same at every
    token: a number, or the gains of a norm [heads or 1, d_head]. normed: a norm sets their length.
    """

    module: nn.Linear | Conv1D
    starts: tuple[int, ...]
    size: int
    factor: float | Tensor = 1.0
    normed: bool = False


class InputMaps:
    """The linear maps before each attention call, found by their outputs: exactly the vectors of the heads at the first position.

    Rotary positions turn nothing there. A factor that is the same at every token belongs to the map: the root of d_head in OPT,
    that of rotary positions in GPT-OSS. Where a norm of root mean squares comes after it (Qwen3, Gemma 3), its gains belong to
    the map, which then says in which direction a query points; how long it is depends on the token. Other norms, and maps with
    one between them (DeepSeek), are not found. A map may make queries, keys and values together (GPT-2), a head's side by side or
    not (GPT-NeoX).
    """

    def __init__(self, layout: Layout, width: int):
        """Start without any map. width: d_model of the stream that they read."""
        self.layout, self.width = layout, width
        self.columns: dict[tuple[int, str], Columns] = {}  # by the number of the call, and one of NAMES

    @contextlib.contextmanager
    def watching(self, network: nn.Module, record: Record) -> Iterator[None]:
        """Find the maps during a recorded forward pass inside the `with` block."""
        outputs: dict[int, list[tuple[nn.Linear | Conv1D, Tensor]]] = {}  # by the number of the call that comes next
        norms: dict[int, list[NormCall]] = {}

        def note(module: nn.Linear | Conv1D, args: tuple[object, ...], out: Tensor) -> None:
            if _sizes(module)[0] == self.width and out.numel():
                outputs.setdefault(len(record.calls), []).append((module, out.flatten(0, -2).detach()))

        def note_norm(module: nn.Module, args: tuple[object, ...], out: object) -> None:
            if args and isinstance(args[0], Tensor) and isinstance(out, Tensor) and args[0].shape == out.shape:
                norms.setdefault(len(record.calls), []).append((module, args[0].detach(), out.detach()))

        modules = list(network.modules())
        handles = [layer.register_forward_hook(note) for layer in modules if isinstance(layer, nn.Linear | Conv1D)]
        handles += [layer.register_forward_hook(note_norm) for layer in modules if type(layer).__name__.lower().endswith("norm")]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()
        for number, call in enumerate(record.calls):
            for name in NAMES:
                heads = getattr(call, name)
                if heads is not None:
                    self._find(number, name, heads, outputs.get(number, []), norms.get(number, []))

    def _find(
        self, number: int, name: str, heads: Tensor, outputs: list[tuple[nn.Linear | Conv1D, Tensor]], norms: list[NormCall]
    ) -> None:
        """Find the map that made the vectors of a call's heads [head, position, d_head] among the outputs and norms before it."""
        size = heads.shape[-1]
        for module, rows in outputs:
            if starts := _starts(rows[0], heads[:, 0]):
                self.columns[number, name] = Columns(module, starts, size)
        if (number, name) in self.columns:
            return
        has_direction = name != "value"  # a value's length counts, so it is no mere direction
        before = [
            raw_and_gains for norm in norms if has_direction and (raw_and_gains := _before_norm(norm, heads[:, 0])) is not None
        ]
        for module, rows in outputs:
            if scaled := _scaled(rows, heads):
                self.columns[number, name] = Columns(module, scaled[0], size, scaled[1])
            for raw, gains in before:
                if starts := _starts(rows[0], raw):
                    self.columns[number, name] = Columns(module, starts, size, gains, normed=True)

    def normed(self, kind: str) -> bool:
        """Return whether queries or keys of a kind of attention are normed after their matrices."""
        calls = [i for i, call_kind in enumerate(self.layout.calls) if call_kind == kind]
        return any(self.columns[call, name].normed for call in calls for name in NAMES[:2] if (call, name) in self.columns)

    def weights(self, name: str, kind: str, layer: int) -> np.ndarray:
        """Return W_Q, W_K or W_V of a layer's query heads: float32 [heads, d_model, d_head]. Errors: ValueError if not found."""
        call = [i for i, call_kind in enumerate(self.layout.calls) if call_kind == kind][layer]
        if (call, name) not in self.columns:
            raise ValueError(UNKNOWN.format(name=name))
        at = self.columns[call, name]
        weight = at.module.weight.detach()
        weight = weight if isinstance(at.module, Conv1D) else weight.T  # [d_model, columns]
        each = torch.stack([weight[:, start : start + at.size] for start in at.starts])
        each = each * (at.factor if isinstance(at.factor, float) else at.factor[:, None])
        return array_of(each.repeat_interleave(self.layout.counts[kind][layer] // len(each), 0))


def _sizes(module: nn.Linear | Conv1D) -> tuple[int, int]:
    """Return the widths of a map's input and output."""
    into, out = module.weight.shape if isinstance(module, Conv1D) else reversed(module.weight.shape)
    return into, out


def _starts(row: Tensor, heads: Tensor) -> tuple[int, ...] | None:
    """Return where each head [head, d_head] begins in a row [columns]; None if one is not there."""
    size = heads.shape[-1]
    if len(row) < heads.numel() or len(row) % size:
        return None
    pieces = row.view(-1, size)
    matches = (pieces[None] == heads[:, None]).all(-1)  # [head, piece]
    if not matches.any(1).all():
        return None
    return tuple(int(piece) * size for piece in matches.int().argmax(1))


def _scaled(rows: Tensor, heads: Tensor) -> tuple[tuple[int, ...], float] | None:
    """Return where each head [head, position, d_head] begins in rows [position, columns] times one number, and that number.

    None where it is not the same everywhere. Rotary positions leave lengths as they are.
    """
    size, near = heads.shape[-1], CONSTANT.get(heads.dtype, 0.02)
    if rows.shape != (heads.shape[1], rows.shape[1]) or rows.shape[1] < len(heads) * size or rows.shape[1] % size:
        return None
    pieces, heads = rows.float().unflatten(1, (-1, size)), heads.float()  # [position, piece, d_head]
    starts = []
    for head in heads:
        products = pieces[0] @ head[0]
        factors = products / pieces[0].square().sum(-1).clamp(min=1e-12)
        apart = (factors[:, None] * pieces[0] - head[0]).norm(dim=-1) / head[0].norm().clamp(min=1e-12)
        best = int(apart.argmin())
        if apart[best] > near or factors[best] <= 0:
            return None
        starts.append(best)
    ratios = heads.norm(dim=-1).T / pieces[:, starts].norm(dim=-1).clamp(min=1e-12)  # [position, head]
    if ratios.max() - ratios.min() > near * ratios.mean():
        return None
    return tuple(start * size for start in starts), float(ratios.mean())


def _before_norm(norm: NormCall, heads: Tensor) -> tuple[Tensor, Tensor] | None:
    """Return a norm's input that became these heads at the first position [head, d_head], and its gains [head or 1, d_head].

    None where its output differs, or where it does more than divide by a length and multiply by gains.
    """
    module, inputs, outputs = norm
    size, near = heads.shape[-1], CONSTANT.get(heads.dtype, 0.02)
    if outputs.dim() == 4 and outputs.shape[1] == len(heads) != outputs.shape[2]:
        inputs, outputs = inputs.transpose(1, 2), outputs.transpose(1, 2)
    raw, out = (values.flatten(2)[0, 0] if values.dim() > 2 else values[0] for values in (inputs, outputs))
    if out.numel() != heads.numel() or not torch.equal(out.view(-1, size), heads):
        return None
    with torch.no_grad():
        gains = module(torch.ones_like(inputs.flatten(0, -2)[:1]))[0]
    raw, gains = raw.view(-1, size), gains.view(-1, size)
    expected = (raw * gains).float()
    expected = expected * (heads.float().norm(dim=-1) / expected.norm(dim=-1).clamp(min=1e-12))[:, None]
    return (raw, gains) if (expected - heads.float()).norm() <= near * heads.float().norm() else None
