"""The parts of a trace that cross one by one, when somebody asks for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.recorder import Call
from models.rotary import Rotary
from models.saving import NUMBERS, TENSORS, held, numbers

if TYPE_CHECKING:
    from models.trace import Attention, Trace

ROWS = {"hidden": "rows", "last": "rows", "scores": "row"}  # what the tensor of a part is called
MAPS = ("query", "key", "mask", "bias", "sinks")  # what the weights of a call follow from


@dataclass(frozen=True)
class Part:
    """What was asked for of a trace. Its name says what it is:

    "hidden/KIND": the streams of a stack; "last": the rows that logits are made of; "scores/POSITION": of what is predicted there
    (negative: from the end); "weights/KIND/LAYER": the weights of a layer, or, where they are smaller, the queries and keys that
    they follow from; "call/KIND/LAYER": all that was recorded of it.
    """

    said: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, Tensor] = field(default_factory=dict)

    @property
    def bytes(self) -> int:
        return sum(one.nbytes for one in self.tensors.values())


def part_of(trace: Trace, name: str) -> Part | None:
    """That part; None where this trace has none, because it is shorter, say."""
    what, *where = name.split("/")
    if what == "hidden" and where[0] in trace.hidden:
        return Part({}, {"rows": torch.tensor(trace.hidden[where[0]])})
    if what == "last":
        return Part({}, {"rows": torch.tensor(trace._last)})
    if what == "scores" and trace.predicts and -len(trace.read) <= int(where[0]) < len(trace.read):
        scores = trace.scores_at(int(where[0]))
        assert scores is not None, "it predicts"
        return Part({}, {"row": torch.tensor(scores)})
    if what in ("weights", "call") and where[0] in trace.attention and int(where[1]) < trace.attention[where[0]].layers:
        return {"weights": _weights, "call": _call}[what](trace.attention[where[0]], int(where[1]))
    return None


def _weights(attention: Attention, layer: int) -> Part:
    call = attention._calls[layer]
    whole = 4 * attention.counts[layer] * len(attention.queries) * len(attention.keys)
    some = {name: one for name, one in held(call).items() if name in MAPS}
    said = numbers(call) | {"formula": attention.formula(layer)}
    follows = call.query is not None and call.given is None and call.edited is None
    if follows and sum(one.nbytes for one in some.values()) < whole:
        return Part(said, some)
    return Part(said, {"weights": torch.tensor(attention[layer])})


def _call(attention: Attention, layer: int) -> Part:
    call, rotary = attention._calls[layer], attention.rotary(layer)
    tensors = held(call)
    said: dict[str, Any] = numbers(call)
    if rotary is not None:
        tensors["turns"] = torch.tensor(rotary.frequencies)
        said |= {"pairs": rotary.pairs, "start": rotary.start}
    return Part(said, tensors)


def call_of(part: Part) -> Call:
    """The call that a part holds, or as much of it as its weights follow from."""
    found: dict[str, Any] = {name: part.tensors.get(name) for name in TENSORS}
    return Call(**found, **{name: part.said[name] for name in NUMBERS})


def rotary_of(part: Part) -> Rotary | None:
    turns = part.tensors.get("turns")
    return None if turns is None else Rotary(turns.numpy(), part.said["pairs"], part.said["start"])


def prefixed(name: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{name}:{key}": one for key, one in tensors.items()}


def split(said: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> dict[str, Part]:
    """The parts in an answer, by name."""
    parts = {name: Part(one, {}) for name, one in said["parts"].items()}
    for name, one in tensors.items():
        of, _, key = name.rpartition(":")
        parts[of].tensors[key] = one
    for name, part in parts.items():
        _check(name.partition("/")[0], part)
    return parts


def _check(what: str, part: Part) -> None:
    """Errors: LookupError or TypeError for a part that lacks what its name promises."""
    if what in ROWS:
        part.tensors[ROWS[what]]
    else:
        call_of(part), rotary_of(part)
    if what == "weights":
        part.said["formula"], part.tensors["weights" if "weights" in part.tensors else "query"]
