"""Reads a trace from a file that `models.files.save_trace` wrote, and checks that its parts fit together."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from models import edits
from models.attention.recorded_call import Call
from models.attention.undo_rotary import Rotary
from models.class_labels import Labels
from models.files.save_trace import FORMAT, MARK, NUMBERS, TENSORS
from models.images.stored import tokens_of
from models.info import ModelInfo
from models.numbers.sizes import size
from models.tokens import Token
from models.trace import Attention, Opened, Trace

KINDS = ({"self"}, {"encoder", "decoder", "cross"})
AGAIN = "This trace was opened from a file, and this needs the model. Read the text again: models.load(…).trace(trace.text)."


def load_trace(path: str | os.PathLike) -> Trace:
    """Load a trace that `Trace.save` wrote: tokens, attention, streams, logits and the facts about the model, without the model.

    Analyses and pictures that need only the trace accept it; those that need the model (a lens, gradients, another reading)
    raise an error that says so. `trace.info` has the facts about the model; `trace.model.weights` identifies its weights.
    Errors: ValueError, in a sentence, for a file that holds no such trace, is damaged, was written by a newer version, or does
    not fit in memory; OSError where there is no file.
    """
    file = Path(path)
    quoted_name = f"“{file.name}”"
    _check_size(file, quoted_name)
    try:
        with safe_open(file, framework="pt") as archive:
            metadata = archive.metadata() or {}
            if MARK not in metadata:
                raise ValueError(f"{quoted_name} holds no trace of Headlight. Weights of a model are opened by models.load.")
            if metadata[MARK] != str(FORMAT):
                raise ValueError(
                    f"{quoted_name} was written by another version, in format {metadata[MARK][:20]!r}; this one reads {FORMAT}."
                )
            tensors = {name: archive.get_tensor(name) for name in list(archive.keys())}
    except SafetensorError as error:
        raise ValueError(f"{quoted_name} is no safetensors file, or not a whole one: {error}.") from error
    try:
        trace = _read(_Contents(json.loads(metadata["trace"]), tensors))
        _check(trace)
    except (ArithmeticError, AttributeError, LookupError, RecursionError, RuntimeError, TypeError, ValueError) as error:
        raise ValueError(f"{quoted_name} is damaged: what it says of itself does not fit what it holds ({error}).") from error
    return trace


def _check_size(file: Path, quoted_name: str) -> None:
    from models.huggingface.memory import free_memory

    file_size, free = file.stat().st_size, free_memory()
    if file_size > free:
        raise ValueError(f"{quoted_name} has {size(file_size)}, and {size(free)} of memory are free.")


class _Contents:
    """The contents of a file: a description, from JSON, and tensors by name."""

    def __init__(self, description: dict[str, Any], tensors: dict[str, Tensor]):
        self.description, self.tensors = description, tensors

    def group(self, name: str) -> dict[str, np.ndarray]:
        """Return the arrays whose names begin with "name.", by the rest of their names."""
        group = {key: tensor for key, tensor in self.tensors.items() if key.startswith(f"{name}.")}
        return {key.removeprefix(f"{name}."): tensor.numpy() for key, tensor in group.items()}

    def tokens(self, name: str) -> list[Token]:
        kinds = [int, str, int, int, bool, bool, int, bool]  # older files do not hold the last
        if not all(
            len(fields) >= 7 and [type(value) for value in fields] == kinds[: len(fields)] for fields in self.description[name]
        ):
            raise ValueError("a token is not what a token is")
        return [Token(*fields) for fields in self.description[name]]


def facts_of(description: dict[str, Any]) -> ModelInfo:
    """Rebuild the facts about a model from their JSON form."""
    lists = ("notes", "languages", "head_counts", "layer_numbers", "reads")
    facts: dict[str, Any] = {name: tuple(value) if name in lists else value for name, value in description.items()}
    if facts.get("labels"):
        facts["labels"] = Labels(**facts["labels"] | {"names": tuple(facts["labels"]["names"])})
    return ModelInfo(**facts)


def _read(contents: _Contents) -> Trace:
    description = contents.description
    tokens, target = contents.tokens("tokens"), contents.tokens("target")
    if image := description.get("image"):
        tokens = tokens_of(image, contents.tensors["image"].numpy())
    attention, trace_edits = {}, tuple(_edit(contents, entry) for entry in description["edits"])
    for kind, entry in description["attention"].items():
        queries, keys = (target if kind in kinds else tokens for kinds in (("decoder", "cross"), ("decoder",)))
        numbers = description["info"].get("layer_numbers", ()) if kind in ("self", "encoder") else ()
        attention[kind] = _attention(contents, entry, queries, keys, numbers)
        for layer, call in enumerate(attention[kind].calls):
            call.edits = edits.at(trace_edits, kind, layer)
    scores = contents.tensors.get("logits")
    parts: dict[str, dict[str, np.ndarray]] = {}
    for name, array in contents.group("parts").items():
        stack, _, part = name.partition(".")
        parts.setdefault(stack, {})[part] = array
    opened = Opened(
        facts_of(description["info"]), str(description["weights"]), None if scores is None else scores.numpy(), parts or None
    )
    return Trace(
        str(description["text"]),
        tokens,
        attention,
        contents.group("hidden"),
        int(description["cut"]),
        _refuse if description["predicts"] else None,
        target,
        _refuse if description["tail"] else None,
        trace_edits,
        opened,
        _refuse if opened.info.labels else None,
    )


def _refuse(stream: np.ndarray) -> np.ndarray:
    raise ValueError(AGAIN)


def _attention(
    contents: _Contents, description: dict[str, Any], queries: list[Token], keys: list[Token], numbers: Sequence[int]
) -> Attention:
    chooses = bool(description["chooses"])
    if "weights" in description:
        return Attention.of(contents.tensors[description["weights"]].numpy(), queries, keys, chooses, numbers)
    calls = []
    for call_entry in description["calls"]:
        tensors: dict[str, Any] = {name: contents.tensors[call_entry[name]] if name in call_entry else None for name in TENSORS}
        calls.append(Call(**tensors, **{name: call_entry[name] for name in NUMBERS}))
    turns = [
        None if turn is None else Rotary(contents.tensors[turn["frequencies"]].numpy(), turn["pairs"], int(turn["start"]))
        for turn in description["turns"]
    ]
    return Attention(queries, keys, calls, rotary=turns.__getitem__, chooses=chooses, numbers=numbers)


def _edit(contents: _Contents, description: dict[str, Any]) -> edits.Edit:
    kinds = {edit_class.__name__: edit_class for edit_class in edits.Edit.__subclasses__()}
    values: dict[str, Any] = {
        name: contents.tensors[value["array"]].numpy() if isinstance(value, dict) else value
        for name, value in description.items()
    }
    return kinds[str(values.pop("edit"))](**values)


def _check(trace: Trace) -> None:
    """Check a trace. Errors: ValueError where shapes do not fit together, or a number is NaN or infinite."""
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
            if attention.calls:
                _check_call(f"in layer {layer} of {kind} the ", attention.calls[layer], shape)
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
        if (matrix := getattr(call, name)) is not None:
            _expect(what + name, matrix, shape)
    for name in ("mask", "bias"):  # one for all heads, or all queries, will do
        tensor = getattr(call, name)
        if tensor is not None and not (
            tensor.dim() == 3 and all(length in (1, whole) for length, whole in zip(tensor.shape, shape, strict=True))
        ):
            raise ValueError(f"{what}{name} is {list(tensor.shape)}")
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
