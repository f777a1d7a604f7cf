"""A trace read from a file that `models.saving` wrote, and held to what it says of itself."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from models import edits
from models.language_model import ModelInfo
from models.outcomes import Labels
from models.recorder import Call
from models.rotary import Rotary
from models.saving import FORMAT, MARK, NUMBERS, TENSORS
from models.sizes import size
from models.tokens import Token
from models.trace import Attention, Opened, Trace

KINDS = ({"self"}, {"encoder", "decoder", "cross"})
AGAIN = "This trace was opened from a file, and this needs the model. Read the text again: models.load(…).trace(trace.text)."


def load_trace(path: str | os.PathLike) -> Trace:
    """A trace that `Trace.save` wrote: tokens, attention, streams, logits and what was said of the model, without the model.

    Every analysis and picture of a trace that asks no model takes it. What asks the model (a lens, gradients, another reading)
    says so. `trace.info` is what the model was; `trace.model.weights` what its weights were known by.
    Errors: ValueError, in a sentence, for a file that is no such trace, is damaged, was written by a newer version, or does not
    fit in memory; OSError where there is none.
    """
    file = Path(path)
    named = f"“{file.name}”"
    _check_size(file, named)
    try:
        with safe_open(file, framework="pt") as opened:
            said = opened.metadata() or {}
            if MARK not in said:
                raise ValueError(f"{named} holds no trace of Headlight. Weights of a model are opened by models.load.")
            if said[MARK] != str(FORMAT):
                raise ValueError(
                    f"{named} was written by another version, in format {said[MARK][:20]!r}; this one reads {FORMAT}."
                )
            tensors = {name: opened.get_tensor(name) for name in list(opened.keys())}
    except SafetensorError as error:
        raise ValueError(f"{named} is no safetensors file, or not a whole one: {error}.") from error
    try:
        trace = _read(_Opening(json.loads(said["trace"]), tensors))
        _check(trace)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"{named} is damaged: what it says of itself does not fit what it holds ({error}).") from error
    return trace


def _check_size(file: Path, named: str) -> None:
    from models.huggingface.memory import free_memory

    there, free = file.stat().st_size, free_memory()
    if there > free:
        raise ValueError(f"{named} has {size(there)}, and {size(free)} of memory are free.")


class _Opening:
    """What a file says, and its tensors."""

    def __init__(self, said: dict[str, Any], tensors: dict[str, Tensor]):
        self.said, self.tensors = said, tensors

    def under(self, name: str) -> dict[str, np.ndarray]:
        """Arrays whose names begin so, by what follows."""
        found = {key: one for key, one in self.tensors.items() if key.startswith(f"{name}.")}
        return {key.removeprefix(f"{name}."): one.numpy() for key, one in found.items()}

    def tokens(self, name: str) -> list[Token]:
        kinds = [int, str, int, int, bool, bool, int, bool]  # older files do not hold the last
        if not all(len(one) >= 7 and [type(value) for value in one] == kinds[: len(one)] for one in self.said[name]):
            raise ValueError("a token is not what a token is")
        return [Token(*one) for one in self.said[name]]


def facts_of(said: dict[str, Any]) -> ModelInfo:
    """The facts about a model, from what JSON made of them."""
    lists = ("notes", "languages", "head_counts", "layer_numbers")
    facts: dict[str, Any] = {name: tuple(value) if name in lists else value for name, value in said.items()}
    if facts.get("labels"):
        facts["labels"] = Labels(**facts["labels"] | {"names": tuple(facts["labels"]["names"])})
    return ModelInfo(**facts)


def _read(opening: _Opening) -> Trace:
    said = opening.said
    tokens, target = opening.tokens("tokens"), opening.tokens("target")
    attention, changed = {}, tuple(_edit(opening, one) for one in said["edits"])
    for kind, one in said["attention"].items():
        queries, keys = (target if kind in few else tokens for few in (("decoder", "cross"), ("decoder",)))
        attention[kind] = _attention(opening, one, queries, keys)
        for layer, call in enumerate(attention[kind]._calls):
            call.edits = edits.at(changed, kind, layer)
    scores = opening.tensors.get("logits")
    parts: dict[str, dict[str, np.ndarray]] = {}
    for name, array in opening.under("parts").items():
        stack, _, part = name.partition(".")
        parts.setdefault(stack, {})[part] = array
    known = Opened(facts_of(said["info"]), str(said["weights"]), None if scores is None else scores.numpy(), parts or None)
    return Trace(
        str(said["text"]), tokens, attention, opening.under("hidden"), int(said["cut"]), _absent if said["predicts"] else None,
        target, _absent if said["tail"] else None, changed, known,
        _absent if known.info.labels else None,
    )  # fmt: skip


def _absent(stream: np.ndarray) -> np.ndarray:
    raise ValueError(AGAIN)


def _attention(opening: _Opening, said: dict[str, Any], queries: list[Token], keys: list[Token]) -> Attention:
    if "weights" in said:
        return Attention.of(opening.tensors[said["weights"]].numpy(), queries, keys, bool(said["chooses"]))
    calls = []
    for one in said["calls"]:
        held: dict[str, Any] = {name: opening.tensors[one[name]] if name in one else None for name in TENSORS}
        calls.append(Call(**held, **{name: one[name] for name in NUMBERS}))
    turns = [
        None if one is None else Rotary(opening.tensors[one["frequencies"]].numpy(), one["pairs"], int(one["start"]))
        for one in said["turns"]
    ]
    return Attention(queries, keys, calls, rotary=turns.__getitem__, chooses=bool(said["chooses"]))


def _edit(opening: _Opening, said: dict[str, Any]) -> edits.Edit:
    kinds = {one.__name__: one for one in edits.Edit.__subclasses__()}
    values: dict[str, Any] = {
        name: opening.tensors[one["array"]].numpy() if isinstance(one, dict) else one for name, one in said.items()
    }
    return kinds[str(values.pop("edit"))](**values)


def _check(trace: Trace) -> None:
    """Errors: ValueError where the shapes do not fit together, or numbers are none."""
    if set(trace.attention) not in KINDS or not trace.tokens or ("self" in trace.attention) != (not trace.target):
        raise ValueError("its attention is of no kind of model")
    info = trace.info
    assert info is not None, "it was read"
    for stack, stream in trace.hidden.items():
        layers = trace.attention[stack].layers
        count = len(trace.target if stack == "decoder" else trace.tokens)
        _expect(f"the stream of {stack}", stream, (layers + 1, count, info.d_model))
    if set(trace.hidden) != set(trace.attention) - {"cross"}:
        raise ValueError("a stream is missing")
    for kind, attention in trace.attention.items():
        for layer, heads in enumerate(attention.counts):
            shape = heads, len(attention.queries), len(attention.keys)
            if attention._calls:
                _check_call(f"in layer {layer} of {kind} the ", attention._calls[layer], shape)
            else:
                _expect(f"in layer {layer} the attention of {kind}", attention[layer], shape)
    if isinstance(trace.model, Opened) and (logits := trace.model.logits) is not None:
        _expect("the logits", logits, (len(trace.read), logits.shape[-1]), infinite=True)


def _check_call(what: str, call: Call, shape: tuple[int, int, int]) -> None:
    heads, queries, keys = shape
    if call.query is None and call.given is None:
        raise ValueError(f"{what}weights are missing")
    if call.query is not None:
        if call.key is None or call.value is None or heads % max(1, len(call.key)):
            raise ValueError(f"{what}keys or values are missing, or they are of no such heads")
        _expect(f"{what}query", call.query, (heads, queries, call.query.shape[-1]))
        _expect(f"{what}key", call.key, (call.key.shape[0], keys, call.query.shape[-1]))
        _expect(f"{what}value", call.value, (call.key.shape[0], keys, call.value.shape[-1]))
    for name in ("given", "edited"):
        if (one := getattr(call, name)) is not None:
            _expect(what + name, one, shape)
    for name in ("mask", "bias"):  # one for all heads, or all queries, will do
        one = getattr(call, name)
        if one is not None and not (
            one.dim() == 3 and all(size in (1, whole) for size, whole in zip(one.shape, shape, strict=True))
        ):
            raise ValueError(f"{what}{name} is {list(one.shape)}")
    if call.out is not None:
        _expect(f"{what}out", call.out, (queries, heads, call.out.shape[-1]))
    if call.sinks is not None:
        _expect(f"{what}sinks", call.sinks, (heads,))


def _expect(what: str, array: np.ndarray | Tensor, shape: tuple[int, ...], infinite: bool = False) -> None:
    if tuple(array.shape) != shape:
        raise ValueError(f"{what} is {list(array.shape)} and not {list(shape)}")
    numbers = torch.tensor(array) if isinstance(array, np.ndarray) else array
    if numbers.isnan().any() or not (infinite or numbers.isfinite().all()):
        raise ValueError(f"{what} holds what is no number")
