"""Reading again only what changed: in a causal model the beginning of a text is read the same whatever follows it."""

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

from models.bounded import Bounded
from models.condition import Condition
from models.readonly import read_only
from models.recorder import Call, causal_mask
from models.tokens import Token
from models.trace import Attention, Trace

Ids = tuple[int, ...]


@dataclass(frozen=True)
class Encoded:
    """What the encoder of an encoder-decoder made of a text; out: what the decoder is given of it [1, position, d_model]."""

    attention: Attention
    hidden: np.ndarray
    out: Tensor

    def __post_init__(self) -> None:  # one array for all the traces that it serves
        object.__setattr__(self, "hidden", read_only(self.hidden))

    @property
    def bytes(self) -> int:
        return self.attention.bytes + self.hidden.nbytes + self.out.nbytes


Kept = TypeVar("Kept", bound=Trace | Encoded)

_reader: ContextVar[Hashable] = ContextVar("headlight_reader", default=None)


@contextmanager
def reading_for(reader: Hashable) -> Iterator[None]:
    """What is read inside the `with` block is remembered as this reader's (a visitor, say); else all are the same reader."""
    token = _reader.set(reader)
    try:
        yield
    finally:
        _reader.reset(token)


def reader_now() -> Hashable:
    """Who reads here; None where nobody said so."""
    return _reader.get()


class Stamp(NamedTuple):
    """Who reads, and in which condition of the network."""

    reader: Hashable
    number: int


class Recent(Generic[Kept]):
    """What a network read last, by reader and token ids, so many for each reader and so many bytes in all. Safe between threads.

    It keeps traces of a decoder, whose beginnings can be read on from, or what an encoder made of a text. A trace that begins
    another one is not kept beside it. `Bounded` says what leaves first: those who type keep theirs. In another condition of the
    network nothing is left of it all.
    """

    def __init__(self, network: nn.Module, each: int = 8, bytes: int = 256 * 2**20):
        self._condition = Condition(network)
        self._lock = threading.Lock()
        self._number = 0
        self._kept: Bounded[Ids, Kept] = Bounded(each, bytes)

    def now(self, remember: bool = True) -> Stamp | None:
        """What `keep`, `get` and `longest_shared` go by in one reading, for the reader of this context.

        None: the reading takes nothing from memory and leaves nothing there, as nobody wants it to, or as the network may
        answer otherwise each time (see `Condition`).
        """
        number = self._condition.now() if remember else None
        return None if number is None else Stamp(_reader.get(), number)

    def keep(self, stamp: Stamp | None, ids: Ids, made: Kept) -> None:
        with self._lock:
            if stamp is None or stamp.number < self._number:
                return
            if stamp.number > self._number:
                self._clear(stamp.number)
            mine = self._kept.of(stamp.reader)
            if isinstance(made, Trace):
                longer = next((known for known in mine if len(known) > len(ids) and known[: len(ids)] == ids), None)
                made, ids = (made, ids) if longer is None else (mine[longer], longer)
                self._kept.drop(stamp.reader, *(known for known in mine if ids[: len(known)] == known))
            self._kept.keep(stamp.reader, ids, made)

    def forget(self, but_for: Callable[[Hashable], bool] | None = None) -> None:
        """Let go of everything, but for what was read by readers of whom that is true."""
        with self._lock:
            if but_for:
                self._kept.keep_for(but_for)
            else:
                self._clear(self._number)

    def get(self, stamp: Stamp | None, ids: Ids) -> Kept | None:
        """What was kept for just these ids, whoever read them."""
        with self._lock:
            return next((known[ids] for known in self._of(stamp) if ids in known), None)

    def same(self, stamp: Stamp | None, ids: Ids, text: str, tokens: Sequence[Token]) -> Kept | None:
        """The trace of just this text, whoever read it; kept as this reader's too. A class reads it once."""
        made = self.get(stamp, ids)
        if not isinstance(made, Trace) or made.text != text or made.tokens != tuple(tokens):
            return None
        self.keep(stamp, ids, made)
        return made

    def longest_shared(self, stamp: Stamp | None, ids: Ids) -> tuple[Kept | None, int]:
        """The trace that begins most like these ids, whoever read it, and for how many of them."""
        best: Kept | None = None
        shared = 0
        with self._lock:
            for known, trace in chain.from_iterable(reversed(one.items()) for one in self._of(stamp)):
                if shared < min(len(known), len(ids)) and known[: shared + 1] == ids[: shared + 1]:
                    best = trace
                    shared = next(
                        (i for i, (a, b) in enumerate(zip(known, ids, strict=False)) if a != b), min(len(known), len(ids))
                    )
        return best, shared

    def _of(self, stamp: Stamp | None) -> list[OrderedDict[Ids, Kept]]:
        """What is kept by reader, the one who asks first."""
        if stamp is None or stamp.number != self._number:
            return []
        return [self._kept.of(one) for one in (stamp.reader, *(each for each in self._kept.owners if each != stamp.reader))]

    def _clear(self, number: int) -> None:
        self._number = number
        self._kept.clear()


def first(calls: Sequence[Call], positions: int) -> list[Call]:
    """The calls of a causal model as they were for the first positions alone; exact, because nothing looks ahead."""
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
    """The calls for all positions; the new ones already hold every key and value."""
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
    """The masks of both below each other; None when that is the plain causal one."""
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
