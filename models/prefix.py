"""Reading again only what changed: in a causal model the beginning of a text is read the same whatever follows it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from models.recorder import Call, causal_mask
from models.trace import Attention, Trace


@dataclass(frozen=True)
class Encoded:
    """What the encoder of an encoder-decoder made of a text; out: what the decoder is given of it [1, position, d_model]."""

    attention: Attention
    hidden: np.ndarray
    out: Tensor

    @property
    def bytes(self) -> int:
        return self.attention.bytes + self.hidden.nbytes + self.out.nbytes


class Recent:
    """What a model read last, by token ids, bounded by number and by the bytes that it holds. Safe between threads.

    Traces of a decoder, whose beginnings can be read on from; or whatever else has `bytes`.
    """

    def __init__(self, most: int = 16, bytes: int = 256 * 2**20):
        self.most, self.bytes = most, bytes
        self._lock = threading.Lock()
        self._traces: OrderedDict[tuple[int, ...], Trace] = OrderedDict()

    def keep(self, ids: tuple[int, ...], trace: Trace) -> None:
        with self._lock:
            self._traces[ids] = trace
            self._traces.move_to_end(ids)
            while len(self._traces) > 1 and (
                len(self._traces) > self.most or sum(one.bytes for one in self._traces.values()) > self.bytes
            ):
                self._traces.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._traces.clear()

    def get(self, ids: tuple[int, ...]) -> Trace | None:
        with self._lock:
            return self._traces.get(ids)

    def longest_shared(self, ids: tuple[int, ...]) -> tuple[Trace | None, int]:
        """The trace that begins most like these ids, and for how many of them."""
        best, shared = None, 0
        with self._lock:
            for known, trace in reversed(self._traces.items()):
                length = next((i for i, (a, b) in enumerate(zip(known, ids, strict=False)) if a != b), min(len(known), len(ids)))
                if length > shared:
                    best, shared = trace, length
        return best, shared


def first(calls: list[Call], positions: int) -> list[Call]:
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


def joined(old: list[Call], new: list[Call]) -> list[Call]:
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

    return [
        replace(
            late,
            query=None if late.query is None else torch.cat([early.query, late.query], dim=1),
            out=None if late.out is None else torch.cat([early.out, late.out]),
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
