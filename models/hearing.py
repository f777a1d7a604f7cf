"""What heads and feed-forwards give before anything is changed in them, and how a prediction hangs on that, in one pass."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from models.adding import PartWatcher, Place, Sums
from models.batches import Ready, batches, of_trace, plan_of
from models.edits import Edit, check
from models.readonly import array_of

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace

Given = dict[tuple[str, int], tuple[Tensor, Callable[[Tensor], Tensor]]]  # a tensor of the pass, and what lays it out as `Heard`


@dataclass(frozen=True)
class Heard:
    """What parts give when a trace is read again with some lists of edits, each part before it is edited itself.

    heads: by kind of attention and layer, [list, heads, query, d_head]; of a model that attends in its own way their weights,
    [list, heads, query, key]. feedforward: by stack and layer what it adds, [list, position, d_model]; not there where it cannot
    be told from its block. logits: [list, vocabulary].
    """

    heads: dict[tuple[str, int], np.ndarray]
    feedforward: dict[tuple[str, int], np.ndarray]
    logits: np.ndarray


class Before(PartWatcher):
    """Hears what each feed-forward adds before that is edited; in grad mode as a part of the graph, which may begin there."""

    def __init__(self, known: Mapping[Place, Sums]):
        super().__init__(known, listens=True)
        self.given: dict[Place, tuple[Tensor, Callable[[Tensor], Tensor]]] = {}

    def _part(self, part: str, summand: Tensor) -> Tensor:
        place = self._place
        if part == "feedforward" and place is not None and place not in self.given:  # of two in a block the first
            if torch.is_grad_enabled() and not summand.requires_grad:
                summand = summand.detach().requires_grad_()
            shape, turned = self._shape, self._turned and summand.dim() > 2
            self.given[place] = summand, lambda one: one.transpose(0, 1) if turned else one.reshape(shape)
            summand = summand.clone()  # some blocks add to it in place
        return super()._part(part, summand)


def hear(model: LanguageModel, trace: Trace, edits: Sequence[Sequence[Edit]], position: int) -> Heard:
    """The parts, and the logits at a position of `trace.read`, with each list of edits beside those of the trace. Errors:
    ValueError as `models.batches.answers`, and where what follows the last block mixes positions."""
    plain = of_trace(trace)
    rows = [of_trace(trace, check(some, model.info, plain.lengths)) for some in edits]
    found: list[Heard] = []
    for numbers in batches([(len(trace.tokens), len(trace.target))] * len(rows)):
        with torch.no_grad():
            heads, added, logits = _pass(model, [rows[i] for i in numbers], position)
            found.append(Heard(_laid(heads), _laid(added), _array(logits)))
    return Heard(
        {key: np.concatenate([one.heads[key] for one in found]) for key in found[0].heads},
        {key: np.concatenate([one.feedforward[key] for one in found]) for key in found[0].feedforward},
        np.concatenate([one.logits for one in found]),
    )


def slopes(
    model: LanguageModel, trace: Trace, position: int, measure: Callable[[Tensor], Tensor], edits: Sequence[Edit] = ()
) -> tuple[Heard, Heard]:
    """What each part of a trace gives, with some edits more, and the slope of a number against it: two of `Heard`, one row each.

    measure: makes the number of the logits [1, vocabulary] at the position. Errors: as `hear`.
    """
    row = of_trace(trace, check(edits, model.info, of_trace(trace).lengths))
    with torch.enable_grad():
        heads, added, logits = _pass(model, [row], position)
        flat = [one for one, _ in (*heads.values(), *added.values())]
        grads = torch.autograd.grad(measure(logits.float()), flat, allow_unused=True)
    steep = iter([torch.zeros_like(one) if grad is None else grad for one, grad in zip(flat, grads, strict=True)])
    by_head, by_part = ({key: (next(steep), lay) for key, (_, lay) in each.items()} for each in (heads, added))
    return Heard(_laid(heads), _laid(added), _array(logits)), Heard(_laid(by_head), _laid(by_part), _array(logits))


def _pass(model: LanguageModel, rows: Sequence[Ready], position: int) -> tuple[Given, Given, Tensor]:
    """What heads give, what feed-forwards add, and the logits [row, vocabulary]."""
    if model._tail is not None:
        raise ValueError(
            f"In {model.info.name} layers without attention follow the last block and mix positions: no slope is taken there."
        )
    adds = Before(model._sums)
    plan = plan_of(model, rows, adds=adds)
    record = model._pass_edited([row.tokens for row in rows], [row.said for row in rows], plan, outs=True)
    order, places = model._order
    heads: Given = {
        call: (out, _as_it_is if noted[0].query is None else _heads_first)
        for call, out, noted in zip(order, record.outs or (), record.rows, strict=True)
    }
    layers = {(stack, at - 1): (stack, layer) for stack, each in places.items() for layer, at in enumerate(each[1:])}
    added = {layers[place]: given for place, given in adds.given.items() if place in layers}
    stack = "decoder" if rows[0].said else "self"
    return heads, added, model.way_out(record.hidden[stack][places[stack][-1]][:, position])


def _as_it_is(one: Tensor) -> Tensor:
    return one


def _heads_first(one: Tensor) -> Tensor:
    return one.transpose(1, 2)


def _laid(given: Given) -> dict[tuple[str, int], np.ndarray]:
    return {key: _array(lay(one)) for key, (one, lay) in given.items()}


def _array(one: Tensor) -> np.ndarray:
    return array_of(one)
