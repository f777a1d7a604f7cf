"""The outputs of heads and feed-forwards before they are edited, and the slope of a prediction against them, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from models.editing.batches import batches, of_trace, plan_of
from models.editing.parts import PartWatcher, Place, Sums
from models.edits import Edit, check
from models.numbers.readonly import array_of
from models.reading.readable import Ready

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace

Outputs = dict[
    tuple[str, int], tuple[Tensor, Callable[[Tensor], Tensor]]
]  # a tensor of the pass, and the function that lays it out as in `Heard`


@dataclass(frozen=True)
class Heard:
    """The outputs of parts when a trace is read again with some lists of edits, each part before it is edited itself.

    heads: by kind of attention and layer, [list, heads, query, d_head]; for a model with its own attention code, their weights
    [list, heads, query, key] instead. feedforward: by stack and layer what it adds, [list, position, d_model]; absent where it
    cannot be told from its block. logits: [list, vocabulary].
    """

    heads: dict[tuple[str, int], np.ndarray]
    feedforward: dict[tuple[str, int], np.ndarray]
    logits: np.ndarray


class Before(PartWatcher):
    """Records the addition of each feed-forward before it is edited; in grad mode it is a part of the graph, which may begin
    there.
    """

    def __init__(self, known: Mapping[Place, Sums]):
        super().__init__(known, listens=True)
        self.outputs: dict[Place, tuple[Tensor, Callable[[Tensor], Tensor]]] = {}

    def edit_part(self, part: str, summand: Tensor) -> Tensor:
        place = self.place
        if part == "feedforward" and place is not None and place not in self.outputs:  # of two in a block the first
            if torch.is_grad_enabled() and not summand.requires_grad:
                summand = summand.detach().requires_grad_()
            shape, swap = self.shape, self.turned and summand.dim() > 2
            self.outputs[place] = summand, lambda tensor: tensor.transpose(0, 1) if swap else tensor.reshape(shape)
            summand = summand.clone()  # some blocks add to it in place
        return super().edit_part(part, summand)


def hear(model: LanguageModel, trace: Trace, edits: Sequence[Sequence[Edit]], position: int) -> Heard:
    """Return the outputs of parts, and the logits at a position of `trace.read`, with each list of edits added to those of the
    trace. Errors: ValueError as `models.editing.batches.answers`, and where what follows the last block mixes positions."""
    plain = of_trace(trace)
    rows = [of_trace(trace, check(edit_list, model.info, plain.lengths)) for edit_list in edits]
    pieces: list[Heard] = []
    for numbers in batches([(len(trace.tokens), len(trace.target))] * len(rows)):
        with torch.no_grad():
            heads, added, logits = _pass(model, [rows[i] for i in numbers], position)
            pieces.append(Heard(_lay_out(heads), _lay_out(added), _array(logits)))
    return Heard(
        {key: np.concatenate([piece.heads[key] for piece in pieces]) for key in pieces[0].heads},
        {key: np.concatenate([piece.feedforward[key] for piece in pieces]) for key in pieces[0].feedforward},
        np.concatenate([piece.logits for piece in pieces]),
    )


def slopes(
    model: LanguageModel, trace: Trace, position: int, measure: Callable[[Tensor], Tensor], edits: Sequence[Edit] = ()
) -> tuple[Heard, Heard]:
    """Return the output of each part of a trace, with additional edits, and the slope of a number against it: two of `Heard`.

    Each has one row. measure: computes the number from the logits [1, vocabulary] at the position. Errors: as `hear`.
    """
    row = of_trace(trace, check(edits, model.info, of_trace(trace).lengths))
    with torch.enable_grad():
        heads, added, logits = _pass(model, [row], position)
        flat = [tensor for tensor, _ in (*heads.values(), *added.values())]
        grads = torch.autograd.grad(measure(logits.float()), flat, allow_unused=True)
    gradients = iter([torch.zeros_like(tensor) if grad is None else grad for tensor, grad in zip(flat, grads, strict=True)])
    by_head, by_part = ({key: (next(gradients), lay) for key, (_, lay) in outputs.items()} for outputs in (heads, added))
    return Heard(_lay_out(heads), _lay_out(added), _array(logits)), Heard(_lay_out(by_head), _lay_out(by_part), _array(logits))


def _pass(model: LanguageModel, rows: Sequence[Ready], position: int) -> tuple[Outputs, Outputs, Tensor]:
    """Return the outputs of heads, what feed-forwards add, and the logits [row, vocabulary]."""
    if model.tail is not None:
        raise ValueError(
            f"In {model.info.name} layers without attention follow the last block and mix positions: no slope is taken there."
        )
    adds = Before(model.block_sums)
    plan = plan_of(model, rows, adds=adds)
    record = model.run_plan([row.tokens for row in rows], [row.target_tokens for row in rows], plan, outs=True)
    order, places = model.pass_order
    heads: Outputs = {
        call: (out, _as_it_is if noted[0].query is None else _heads_first)
        for call, out, noted in zip(order, record.outs or (), record.rows, strict=True)
    }
    layers = {
        (stack, at - 1): (stack, layer) for stack, layer_places in places.items() for layer, at in enumerate(layer_places[1:])
    }
    added = {layers[place]: output for place, output in adds.outputs.items() if place in layers}
    stack = "decoder" if rows[0].target_tokens else "self"
    return heads, added, model.way_out(record.hidden[stack][places[stack][-1]][:, position])


def _as_it_is(tensor: Tensor) -> Tensor:
    return tensor


def _heads_first(tensor: Tensor) -> Tensor:
    return tensor.transpose(1, 2)


def _lay_out(outputs: Outputs) -> dict[tuple[str, int], np.ndarray]:
    return {key: _array(lay(tensor)) for key, (tensor, lay) in outputs.items()}


def _array(tensor: Tensor) -> np.ndarray:
    return array_of(tensor)
