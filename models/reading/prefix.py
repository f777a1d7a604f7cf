"""Reads again only what changed: in a causal model the beginning of a text is the same whatever follows it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from models.attention.recorded_call import Call
from models.attention.weight_formula import causal_mask
from models.numbers.readonly import read_only
from models.reading.bounded import Bounded
from models.reading.condition import Condition
from models.tokens import Token
from models.trace import Attention, Trace

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Encoded:
    """The encoder's result for a text, in an encoder-decoder; out: what the decoder gets of it [1, position, d_model]."""

    attention: Attention
    hidden: np.ndarray
    out: Tensor

    def __post_init__(self) -> None:  # one array for all the traces that it serves
        object.__setattr__(self, "hidden", read_only(self.hidden))

    @property
    def bytes(self) -> int:
        return self.attention.bytes + self.hidden.nbytes + self.out.nbytes


Entry = TypeVar("Entry", bound=Trace | Encoded)

_reader: ContextVar[Hashable] = ContextVar("headlight_reader", default=None)


@contextmanager
def reading_for(reader: Hashable) -> Iterator[None]:
    """Remember texts read inside the `with` block for this reader (a visitor, say); outside, all count as the same reader."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def reader_now() -> Hashable:
    """Return the reader of this context; None where none is set."""
    return _reader.get()


class Stamp(NamedTuple):
    """A reader, and the condition of the network while it reads."""

    reader: Hashable
    number: int


class Recent(Generic[Entry]):
    """The last readings of a network by reader and token ids, bounded per reader and in bytes. It is safe between threads.

    It keeps traces of a decoder, whose beginnings can be read on from, or an encoder's results. A trace that is the beginning of
    another one is not kept beside it. `Bounded` decides what is dropped first: active readers keep theirs. When the condition of
    the network changes, everything is dropped.
    """

    def __init__(self, network: nn.Module, each: int = 8, bytes: int = 256 * 2**20):
        self._condition = Condition(network)
        self._lock = threading.Lock()
        self._number = 0
        self._entries: Bounded[Ids, Entry] = Bounded(each, bytes)

    def now(self, remember: bool = True) -> Stamp | None:
        """Return the stamp for `keep`, `get` and `longest_shared` in one reading, for the reader of this context.

        None: the reading takes nothing from memory and leaves nothing there, because `remember` is False or because the network
        may answer differently each time (see `Condition`).
        """
        number = self._condition.now() if remember else None
        return None if number is None else Stamp(_reader.get(), number)

    def keep(self, stamp: Stamp | None, ids: Ids, entry: Entry) -> None:
        with self._lock:
            if stamp is None or stamp.number < self._number:
                return
            if stamp.number > self._number:
                self._clear(stamp.number)
            mine = self._entries.of(stamp.reader)
            if isinstance(entry, Trace):
                longer = next((known for known in mine if len(known) > len(ids) and known[: len(ids)] == ids), None)
                entry, ids = (entry, ids) if longer is None else (mine[longer], longer)
                self._entries.drop(stamp.reader, *(known for known in mine if ids[: len(known)] == known))
            self._entries.keep(stamp.reader, ids, entry)

    def forget(self, but_for: Callable[[Hashable], bool] | None = None) -> None:
        """Drop everything, except the readings of readers for whom `but_for` returns true."""
        with self._lock:
            if but_for:
                self._entries.keep_for(but_for)
            else:
                self._clear(self._number)

    def get(self, stamp: Stamp | None, ids: Ids) -> Entry | None:
        """Return the entry for exactly these ids, no matter which reader read them; None without one."""
        with self._lock:
            return next((known[ids] for known in self._of(stamp) if ids in known), None)

    def same(self, stamp: Stamp | None, ids: Ids, text: str, tokens: Sequence[Token]) -> Entry | None:
        """Return the trace of exactly this text, no matter which reader read it, and keep it for this reader too: a class reads
        it once.
        """
        entry = self.get(stamp, ids)
        if not isinstance(entry, Trace) or entry.text != text or entry.tokens != tuple(tokens):
            return None
        self.keep(stamp, ids, entry)
        return entry

    def longest_shared(self, stamp: Stamp | None, ids: Ids) -> tuple[Entry | None, int]:
        """Return the trace, of any reader, that shares the longest beginning with these ids, and the length of that beginning."""
        best: Entry | None = None
        shared = 0
        with self._lock:
            for known, trace in chain.from_iterable(reversed(traces.items()) for traces in self._of(stamp)):
                if shared < min(len(known), len(ids)) and known[: shared + 1] == ids[: shared + 1]:
                    best = trace
                    shared = next(
                        (i for i, (a, b) in enumerate(zip(known, ids, strict=False)) if a != b), min(len(known), len(ids))
                    )
        return best, shared

    def _of(self, stamp: Stamp | None) -> list[OrderedDict[Ids, Entry]]:
        """Return the entries by reader, those of the stamp's reader first."""
        if stamp is None or stamp.number != self._number:
            return []
        return [
            self._entries.of(reader)
            for reader in (stamp.reader, *(owner for owner in self._entries.owners if owner != stamp.reader))
        ]

    def _clear(self, number: int) -> None:
        self._number = number
        self._entries.clear()


def first(calls: Sequence[Call], positions: int) -> list[Call]:
    """Return the calls of a causal model for the first positions only; this is exact, because nothing looks ahead."""
    squares: dict[int, Tensor] = {}  # layers share masks and biases

    def cut(square: Tensor | None) -> Tensor | None:
        return None if square is None else squares.setdefault(id(square), square[..., :positions, :positions])

    def short(heads: Tensor | None) -> Tensor | None:
        return None if heads is None else heads[:, :positions]

    return [
        replace(
            call,
            query=short(call.query),
            key=short(call.key),
            value=short(call.value),
            out=None if call.out is None else call.out[:positions],
            mask=cut(call.mask),
            bias=cut(call.bias),
            given=cut(call.given),
            causal=call.causal or call.mask is None,
        )
        for call in calls
    ]


def joined(old: Sequence[Call], new: Sequence[Call]) -> list[Call]:
    """Join the calls of old and new positions; the new ones already hold every key and value."""
    masks: dict[tuple[int, int], Tensor | None] = {}
    biases: dict[tuple[int, int], Tensor] = {}

    def below(early: Tensor | None, late: Tensor | None) -> Tensor | None:
        if early is None or late is None:
            return None
        place = (id(early), id(late))
        if place not in biases:
            biases[place] = torch.cat([torch.nn.functional.pad(early, (0, late.shape[-1] - early.shape[-1])), late], dim=-2)
        return biases[place]

    def behind(early: Tensor | None, late: Tensor | None, dim: int) -> Tensor | None:
        return None if early is None or late is None else torch.cat([early, late], dim)

    return [
        replace(
            late,
            query=behind(early.query, late.query, 1),
            out=behind(early.out, late.out, 0),
            mask=_joined_mask(early, late, masks),
            bias=below(early.bias, late.bias),
            given=below(early.given, late.given),
            causal=True,
        )
        for early, late in zip(old, new, strict=True)
    ]


def _joined_mask(old: Call, new: Call, known: dict[tuple[int, int], Tensor | None]) -> Tensor | None:
    """Return the masks of both below each other; None if that is the plain causal mask."""
    if old.mask is None and new.mask is None:
        return None
    place = (id(old.mask), id(new.mask))
    if place not in known:
        (_, before, _), (_, after, keys) = old.shape, new.shape
        above = old.mask if old.mask is not None else causal_mask(before, before)[None]
        below = new.mask if new.mask is not None else causal_mask(after, keys)[None]
        mask = torch.cat([torch.nn.functional.pad(above, (0, keys - before)), below], dim=-2)
        known[place] = None if torch.equal(mask[0], causal_mask(before + after, keys, mask.device)) else mask
    return known[place]
