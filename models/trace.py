"""A Trace: everything a model did with one text. It is frozen, its arrays included; costly parts are computed on demand."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

import numpy as np

from models.attention.traced import Attention
from models.numbers.readonly import frozen, read_only
from models.tokens import Token

if TYPE_CHECKING:
    from models.edits import Edit
    from models.info import ModelInfo


class TracedModel(Protocol):
    """The part of a model that a trace read by it uses."""

    @property
    def info(self) -> ModelInfo: ...

    @property
    def weights(self) -> str: ...

    def parts(self, trace: Trace) -> Mapping[str, Mapping[str, np.ndarray]]: ...


@dataclass(frozen=True)
class Opened:
    """The facts in a file about a reading, in place of the model that made it (see `Trace.save`).

    info: of the model; weights: what identifies them. logits: float32 [position, outcome], parts: as `Trace.parts`; None
    where they were not saved.
    """

    info: ModelInfo
    weights: str
    logits: np.ndarray | None = None
    parts: Mapping[str, Mapping[str, np.ndarray]] | None = None

    def __post_init__(self) -> None:
        if self.logits is not None:
            object.__setattr__(self, "logits", read_only(self.logits))


@dataclass(frozen=True)
class Trace:
    """One text, read once. Everything in it is read-only, because texts with the same beginning share it.

    tokens: what the model read, special tokens included; text: what was typed; cut: characters at its left that did not fit.
    target: what the decoder of an encoder-decoder read, its start token first.
    attention: {"self": Attention}, or {"encoder": …, "decoder": …, "cross": …}.
    hidden: {"self": float32 [layers + 1, position, d_model]} (or "encoder" and "decoder"): after the embedding, then after each
    block, before the final norm.
    unembed: computes logits from the stream, row by row; label: computes a classifier's scores of labels from it; scores for a
    whole text stand at `model.places` only. tail: layers without attention after the last block, applied to the stream of the
    whole text [position, d_model] before that; None where there are none that mix positions.
    edits: those made while it was read, with positions counted from the front.
    model: the model that read the text, or the facts from a file; None for a trace that was put together by hand.
    row: the logits of the last requested position, shared by all who read the same text: a whole class asks for the same.
    """

    text: str
    tokens: Sequence[Token]
    attention: Mapping[str, Attention]
    hidden: Mapping[str, np.ndarray]
    cut: int = 0
    unembed: Callable[[np.ndarray], np.ndarray] | None = field(default=None, repr=False)
    target: Sequence[Token] = ()
    tail: Callable[[np.ndarray], np.ndarray] | None = field(default=None, repr=False)
    edits: tuple[Edit, ...] = ()
    model: TracedModel | Opened | None = field(default=None, repr=False, compare=False)
    label: Callable[[np.ndarray], np.ndarray] | None = field(default=None, repr=False)
    row: dict[int, np.ndarray] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tokens", tuple(self.tokens))
        object.__setattr__(self, "target", tuple(self.target))
        object.__setattr__(self, "attention", MappingProxyType(dict(self.attention)))
        if isinstance(self.hidden, dict):  # streams on another machine are fetched on demand
            object.__setattr__(self, "hidden", frozen(self.hidden))

    @property
    def info(self) -> ModelInfo | None:
        """The facts about the model that read it; None for a trace that was put together by hand."""
        return None if self.model is None else self.model.info

    @cached_property
    def parts(self) -> Mapping[str, Mapping[str, np.ndarray]]:
        """The outputs of attention and feed-forward of each block, as they are added to the stream, computed on demand.

        By stack ("self", or "encoder" and "decoder") and part ("attention", "feedforward", "cross"): float32 [layers, position,
        d_model], NaN where a block has no such part that can be told apart. The text is read again for it, once. A head's output
        is `attention.out(layer)`. Errors: ValueError for a trace without a model, and for a file that holds no parts.
        """
        if self.model is None:
            raise ValueError("This trace is of no model, so what its blocks add is not known.")
        if isinstance(self.model, Opened):
            if self.model.parts is None:
                raise ValueError("This file holds no parts of blocks: save it with trace.save(path, parts=True).")
            parts = self.model.parts
        else:
            parts = self.model.parts(self)
        return MappingProxyType({stack: frozen(arrays) for stack, arrays in parts.items()})

    def save(self, path: str | os.PathLike, weights: bool = False, logits: bool = True, parts: bool = False) -> None:
        """Write the trace to a safetensors file, which `models.load_trace` opens without the model; an old file is replaced.

        Kept: tokens, text, edits, facts about the model, streams (float32), and attention as it was recorded (queries, keys,
        values and the outputs of heads in the model's own precision, from which maps and scores follow). weights: save the maps
        instead, float32 [layers, heads, query, key], for other programs; queries and keys are then not saved. logits: whether to
        keep them, float32 [position, vocabulary]; parts: whether to keep `parts` too. Errors: ValueError for a trace without a
        model, and where parts are not known; OSError where it cannot be written.
        """
        from models.files.save_trace import save  # brings torch

        save(self, path, weights, logits, parts)

    @property
    def predicts(self) -> bool:
        """Whether the model predicts anything: tokens, or a classifier's labels."""
        return self.way_out is not None

    @property
    def way_out(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """The function from the stream to the scores of what the model predicts, row by row; None where it predicts nothing."""
        return self.unembed or self.label

    @property
    def read(self) -> Sequence[Token]:
        """The tokens that `logits` has a row for: those of the target where there is one, else all."""
        return self.target or self.tokens

    @property
    def bytes(self) -> int:
        """The bytes in memory."""
        return sum(attention.bytes for attention in self.attention.values()) + sum(array.nbytes for array in self.hidden.values())

    @cached_property
    def logits(self) -> np.ndarray | None:
        """Scores of the token after each position: float32 [position, vocabulary]; None without a language-model head."""
        known = self.model.logits if isinstance(self.model, Opened) and not self.label else None
        return known if known is not None else read_only(self.unembed(self.last_stream)) if self.unembed else None

    def logits_at(self, position: int | slice | list[int]) -> np.ndarray | None:
        """Return one row of `logits`, or several, without computing all: float32 [vocabulary] or [positions, vocabulary]."""
        if isinstance(self.model, Opened) and self.model.logits is not None and not self.label:
            return self.model.logits[position]
        if not self.unembed:
            return None
        if not isinstance(position, int | np.integer):
            return self.unembed(self.last_stream[position])
        place = range(len(self.last_stream))[position]
        row = self.row.get(place)
        if row is None:
            row = read_only(self.unembed(self.last_stream[place]))
            self.row.clear()
            self.row[place] = row
        return row.copy()

    def scores_at(self, position: int) -> np.ndarray | None:
        """Return the scores of the predictions at a position, of tokens or of a classifier's labels: float32 [outcome]."""
        if isinstance(self.model, Opened) and self.model.logits is not None:
            return self.model.logits[position]
        if self.unembed:
            return self.logits_at(position)
        return self.label(self.last_stream[position]) if self.label else None

    @property
    def numbers(self) -> tuple[int, ...]:
        """The number in the network of each layer of the stack that it predicts from (see `Attention`)."""
        return self.attention["self" if "self" in self.attention else "decoder"].numbers

    @property
    def stream(self) -> np.ndarray:
        """The residual stream that predictions are made of, after the embedding and after each block, each as `unembed` takes it:
        float32 [layers + 1, position, d_model]."""
        stream = self.hidden["self" if "self" in self.hidden else "decoder"]
        return read_only(np.stack([self.tail(layer_stream) for layer_stream in stream])) if self.tail else stream

    @cached_property
    def last_stream(self) -> np.ndarray:
        """The stream that logits are made of, row by row [position, d_model]."""
        last = self.hidden["self" if "self" in self.hidden else "decoder"][-1]
        return read_only(self.tail(last)) if self.tail else last
