"""Records the attention of every model while it reads.

The output of attention comes from PyTorch's fused kernel, which never builds the matrix of weights; when a recorder is
active in the calling context it keeps references to query, key and value, from which the weights of the layer on screen
are computed on demand. Hugging Face models come in through `models.huggingface.softmax_tap`, by the same `keep`.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import torch
from torch import Tensor

from models.attention.recorded_call import Call

if TYPE_CHECKING:
    from models.attention.side_by_side import SideBySide

_active: contextvars.ContextVar[Record | None] = contextvars.ContextVar("headlight_record", default=None)


class EditPlan(Protocol):
    """The edits of a pass, as `models.editing.plan.Plan` makes them: each method returns the tensor that the network continues
    with.
    """

    first: int  # the layer that the pass starts from

    def attend(self, record: Record, plain: Callable[[], Tensor], *fields: Any) -> Tensor: ...

    def attend_by_weights(self, record: Record, head_weights: Tensor, key: Tensor, value: Tensor) -> Tensor: ...

    def reweigh(self, record: Record, head_weights: Tensor) -> Tensor: ...

    def pass_on(self, record: Record, stack: str, stream: Tensor) -> Tensor: ...

    def enter(self, record: Record, stack: str, stream: Tensor, turned: bool = False) -> Tensor: ...

    def leave(self, record: Record, stack: str, stream: Tensor, last: bool) -> Tensor: ...


@dataclass(slots=True)
class Record:
    """The record of one forward pass: attention calls in order, and the residual stream of each stack of blocks.

    hidden: [position, d_model] after the embedding, then after each block, under "self" (or "encoder" and "decoder").
    outs: the output of each call, with its batch dimension, where gradients are wanted: a part of the graph, which begins at the
    first of them. streams: whether the residual stream is wanted; without it a batch may be read. last: whether only the rows of
    the last query are wanted (see `Call.last_products`).
    plan: the edits of the pass, if any (`models.editing.plan`). Then `rows` holds the calls, a list for each call with one entry
    for each row of the batch, and hidden is [batch, position, d_model].
    beside: the texts of the pass, if there are several (see `models.attention.side_by_side`), which then keeps the calls.
    """

    calls: list[Call] = field(default_factory=list)
    hidden: dict[str, list[Tensor]] = field(default_factory=dict)
    outs: list[Tensor] | None = None
    streams: bool = True
    last: bool = False
    plan: EditPlan | None = None
    beside: SideBySide | None = None
    rows: list[list[Call]] = field(default_factory=list)

    def keep(self, call: Call, out: Tensor) -> None:
        """Keep a call; out: the tensor that the network continues with, the heads' outputs or else the weights themselves."""
        self.calls.append(call)
        if self.last:
            token = _active.set(None)  # only what the model itself computes is recorded
            call.multiply_last()
            _active.reset(token)
        if self.outs is not None:
            if not out.requires_grad:
                out.requires_grad_()
            self.outs.append(out)


@contextlib.contextmanager
def recording(
    outs: bool = False,
    streams: bool = True,
    plan: EditPlan | None = None,
    last: bool = False,
    beside: SideBySide | None = None,
) -> Iterator[Record]:
    """Record every forward pass made inside the `with` block, in this thread and context only. For the arguments see `Record`."""
    record = Record(outs=[] if outs else None, streams=streams, plan=plan, last=last, beside=beside)
    token = _active.set(record)
    try:
        yield record
    finally:
        _active.reset(token)


def active() -> Record | None:
    """Return the record that is being written in this context, or None."""
    return None if torch.compiler.is_compiling() else _active.get()


def note_hidden(x: Tensor, stack: str = "self") -> Tensor:
    """Keep the residual stream x [batch, position, d_model] of a stack of blocks when a recorder is active.

    Returns the input of the next block: x, unless it is edited.
    """
    if (record := active()) is not None:
        if record.plan is not None:
            return record.plan.pass_on(record, stack, x)
        if record.streams:
            record.hidden.setdefault(stack, []).append(x[0])
    return x
