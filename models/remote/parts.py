"""The parts of a trace, which are fetched one by one when they are needed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.attention.recorded_call import Call
from models.attention.undo_rotary import Rotary
from models.files.save_trace import NUMBERS, TENSORS, held, numbers

if TYPE_CHECKING:
    from models.trace import Attention, Trace

ROWS = {"hidden": "rows", "last": "rows", "scores": "row"}  # the name of a part's tensor
MAPS = ("query", "key", "mask", "bias", "sinks")  # what the weights of a call follow from


@dataclass(frozen=True)
class Part:
    """A part of a trace. Its name says which one:

    "hidden/KIND": the streams of a stack; "last": the rows that logits are computed from; "scores/POSITION": the scores of the
    prediction there (negative: from the end); "weights/KIND/LAYER": the weights of a layer, or, where they are smaller, the
    queries and keys that they follow from; "call/KIND/LAYER": all that was recorded of it.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(tensor.nbytes for tensor in self.tensors.values())


def part_of(trace: Trace, name: str) -> Part | None:
    """Return a part of a trace; None if it has none of that name, because it is shorter, for example."""
    what, *where = name.split("/")
    if what == "hidden" and where[0] in trace.hidden:
        return Part({}, {"rows": torch.tensor(trace.hidden[where[0]])})
    if what == "last":
        return Part({}, {"rows": torch.tensor(trace.last_stream)})
    if what == "scores" and trace.predicts and -len(trace.read) <= int(where[0]) < len(trace.read):
        scores = trace.scores_at(int(where[0]))
        assert scores is not None, "it predicts"
        return Part({}, {"row": torch.tensor(scores)})
    if what in ("weights", "call") and where[0] in trace.attention and int(where[1]) < trace.attention[where[0]].layers:
        return {"weights": _weights, "call": _call}[what](trace.attention[where[0]], int(where[1]))
    return None


def _weights(attention: Attention, layer: int) -> Part:
    call = attention.calls[layer]
    whole = 4 * attention.counts[layer] * len(attention.queries) * len(attention.keys)
    tensors = {name: tensor for name, tensor in held(call).items() if name in MAPS}
    facts = numbers(call) | {"formula": attention.formula(layer)}
    follows = call.query is not None and call.given is None and call.edited is None
    if follows and sum(tensor.nbytes for tensor in tensors.values()) < whole:
        return Part(facts, tensors)
    return Part(facts, {"weights": torch.tensor(attention[layer])})


def _call(attention: Attention, layer: int) -> Part:
    call, rotary = attention.calls[layer], attention.rotary(layer)
    tensors = held(call)
    facts: dict[str, Any] = numbers(call)
    if rotary is not None:
        tensors["turns"] = torch.tensor(rotary.frequencies)
        facts |= {"pairs": rotary.pairs, "start": rotary.start}
    return Part(facts, tensors)


def call_of(part: Part) -> Call:
    """Return the call that a part holds, or as much of it as its weights can be computed from."""
    tensors: dict[str, Any] = {name: part.tensors.get(name) for name in TENSORS}
    return Call(**tensors, **{name: part.facts[name] for name in NUMBERS})


def rotary_of(part: Part) -> Rotary | None:
    turns = part.tensors.get("turns")
    return None if turns is None else Rotary(turns.numpy(), part.facts["pairs"], part.facts["start"])


def prefixed(name: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{name}:{key}": tensor for key, tensor in tensors.items()}


def split(answer: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> dict[str, Part]:
    """Return the parts in an answer by name. Errors: LookupError, TypeError for a part without what its name promises."""
    parts = {name: Part(facts, {}) for name, facts in answer["parts"].items()}
    for name, tensor in tensors.items():
        of, _, key = name.rpartition(":")
        parts[of].tensors[key] = tensor
    for name, part in parts.items():
        _check(name.partition("/")[0], part)
    return parts


def _check(what: str, part: Part) -> None:
    """Check that a part has what its name promises. Errors: LookupError, TypeError."""
    if what in ROWS:
        part.tensors[ROWS[what]]
    else:
        call_of(part), rotary_of(part)
    if what == "weights":
        part.facts["formula"], part.tensors["weights" if "weights" in part.tensors else "query"]
