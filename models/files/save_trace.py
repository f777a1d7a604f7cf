"""Writes a trace to a safetensors file, which holds numbers and text and never code. `models.files.open_trace` reads it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from models.images.stored import description_of
from models.numbers.ragged import stacked
from models.version import VERSION

if TYPE_CHECKING:
    from models.attention.recorded_call import Call
    from models.attention.traced import Attention
    from models.edits import Edit
    from models.info import ModelInfo
    from models.tokens import Token

MARK, FORMAT = "headlight_trace", 1
NUMBERS = ("causal", "scale", "softcap")
TENSORS = ("query", "key", "value", "mask", "out", "bias", "sinks", "given", "edited")


class Source(Protocol):
    """Facts in a file about the model that read a trace."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def weights(self) -> str: ...


class Saved(Protocol):
    """Saved fields of a trace: see `Trace` for the meaning of each."""

    @property
    def text(self) -> str: ...

    @property
    def tokens(self) -> Sequence[Token]: ...

    @property
    def target(self) -> Sequence[Token]: ...

    @property
    def attention(self) -> Mapping[str, Attention]: ...

    @property
    def hidden(self) -> Mapping[str, np.ndarray]: ...

    @property
    def cut(self) -> int: ...

    @property
    def edits(self) -> tuple[Edit, ...]: ...

    @property
    def unembed(self) -> Callable[[np.ndarray], np.ndarray] | None: ...

    @property
    def label(self) -> Callable[[np.ndarray], np.ndarray] | None: ...

    @property
    def tail(self) -> Callable[[np.ndarray], np.ndarray] | None: ...

    @property
    def model(self) -> Source | None: ...

    @property
    def predicts(self) -> bool: ...

    @property
    def logits(self) -> np.ndarray | None: ...

    @property
    def last_stream(self) -> np.ndarray: ...

    @property
    def parts(self) -> Mapping[str, Mapping[str, np.ndarray]]: ...


def save(trace: Saved, path: str | os.PathLike, weights: bool, logits: bool, parts: bool) -> None:
    """Write a trace to a file, as `Trace.save`."""
    if trace.model is None:
        raise ValueError("This trace is of no model, so nobody could say later what it shows. Only what a model read is saved.")
    shelf = _Shelf()
    kinds = {kind: _describe_attention(shelf, kind, attention, weights) for kind, attention in trace.attention.items()}
    shelf.put_all("hidden", trace.hidden)
    if logits and trace.predicts:
        scores = trace.label(trace.last_stream) if trace.label else trace.logits
        assert scores is not None, "it predicts"
        shelf.put("logits", torch.tensor(scores))
    if parts:
        for stack, arrays in trace.parts.items():
            shelf.put_all(f"parts.{stack}", arrays)
    description = {
        "version": VERSION,
        "info": asdict(trace.model.info),
        "weights": trace.model.weights,
        "text": str(trace.text),
        "cut": trace.cut,
        "tokens": tokens_written(trace.tokens),
        "target": tokens_written(trace.target),
        "predicts": trace.unembed is not None,
        "tail": trace.tail is not None,
        "attention": kinds,
        "edits": [_describe_edit(shelf, number, edit) for number, edit in enumerate(trace.edits)],
    }
    if (image := description_of(trace.tokens)) is not None:
        description["image"] = image[0]
        shelf.put("image", torch.tensor(image[1]))
    whole = Path(path)
    part = whole.with_name(f".{whole.name}.{os.getpid()}.part")  # renamed when complete, so that no file is ever half written
    try:
        save_file(shelf.tensors, part, {MARK: str(FORMAT), "trace": json.dumps(description)})
        part.replace(whole)
    finally:
        part.unlink(missing_ok=True)


class _Shelf:
    """Tensors by name, each stored once, however many layers share it."""

    def __init__(self) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._known: dict[tuple, tuple[str, Tensor]] = {}  # keeps tensors alive, so that no other tensor gets the address of one

    def put(self, name: str, tensor: Tensor) -> str:
        key = tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype
        if tensor.numel() and key in self._known:
            return self._known[key][0]
        self.tensors[name] = tensor.detach().cpu().clone(memory_format=torch.contiguous_format)
        self._known[key] = name, tensor
        return name

    def put_all(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        for key, array in arrays.items():
            self.put(f"{name}.{key}", torch.tensor(array))


def _describe_attention(shelf: _Shelf, kind: str, attention: Attention, weights: bool) -> dict[str, Any]:
    description: dict[str, Any] = {"chooses": attention.chooses}
    if weights or not attention.calls:
        whole = stacked([attention[layer] for layer in range(attention.layers)])
        return description | {"weights": shelf.put(f"{kind}.weights", torch.from_numpy(whole))}
    calls: list[dict[str, Any]] = []
    turns: list[dict[str, Any] | None] = []
    for layer, call in enumerate(attention.calls):
        names = {name: shelf.put(f"{kind}.{layer}.{name}", tensor) for name, tensor in held(call).items()}
        calls.append(numbers(call) | names)
        rotary = attention.rotary(layer)
        if rotary is not None:
            angles = shelf.put(f"{kind}.{layer}.turns", torch.tensor(rotary.frequencies))
            turns.append({"frequencies": angles, "pairs": rotary.pairs, "start": rotary.start})
        else:
            turns.append(None)
    return description | {"calls": calls, "turns": turns}


def held(call: Call) -> dict[str, Tensor]:
    """Return the tensors of a call by name."""
    return {name: tensor for name in TENSORS if (tensor := getattr(call, name)) is not None}


def numbers(call: Call) -> dict[str, Any]:
    """Return the other fields of a call."""
    softcap = None if call.softcap is None else float(call.softcap)
    return {"causal": bool(call.causal), "scale": float(call.scale), "softcap": softcap}


def tokens_written(tokens: Sequence[Token]) -> list[list]:
    return [
        [token.id, token.text, token.start, token.end, token.special, token.fragment, token.segment, token.unknown]
        for token in tokens
    ]


def _describe_edit(shelf: _Shelf, number: int, edit: Edit) -> dict[str, Any]:
    description: dict[str, Any] = {"edit": type(edit).__name__}
    for field in fields(edit):
        value = getattr(edit, field.name)
        if isinstance(value, np.ndarray):
            value = {"array": shelf.put(f"edits.{number}.{field.name}", torch.tensor(value))}
        description[field.name] = value.item() if isinstance(value, np.generic) else value
    return description
