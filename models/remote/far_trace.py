"""A trace whose numbers are elsewhere: each part is fetched when it is needed, and kept."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, overload

import numpy as np

from models.attention.recorded_call import Call
from models.numbers.readonly import array_of
from models.remote.parts import Part, call_of, rotary_of
from models.tokens import Token
from models.trace import Attention, Trace

FEW = 8  # positions whose scores are fetched one by one; for more, the rows that they are computed from


class Parts:
    """The parts of one trace that are here; others are fetched when needed. Safe to use from many threads."""

    def __init__(self, ask: Callable[[str], Part], parts: Mapping[str, Part], used: set[str]) -> None:
        """ask: fetches a part by its name. used: collects the names of all parts that were needed."""
        self._ask, self._fetched, self._used, self._lock = ask, dict(parts), used, threading.Lock()

    def __getitem__(self, name: str) -> Part:
        with self._lock:
            self._used.add(name)
            if name not in self._fetched:
                self._fetched[name] = self._ask(name)
            return self._fetched[name]

    def __contains__(self, name: str) -> bool:
        return name in self._fetched


class Streams(Mapping[str, np.ndarray]):
    """The mapping `Trace.hidden`; each stack is fetched when it is read."""

    def __init__(self, parts: Parts, names: Sequence[str]) -> None:
        self._parts, self._names = parts, list(names)

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(name)
        return array_of(self._parts[f"hidden/{name}"].tensors["rows"])

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Calls(Sequence[Call]):
    """The recorded call of each layer, fetched when it is read."""

    def __init__(self, parts: Parts, kind: str, layers: int) -> None:
        self._parts, self._kind, self._layers = parts, kind, layers

    def part(self, layer: int) -> Part:
        return self._parts[f"call/{self._kind}/{range(self._layers)[layer]}"]

    @overload
    def __getitem__(self, layer: int) -> Call: ...
    @overload
    def __getitem__(self, layer: slice) -> list[Call]: ...
    def __getitem__(self, layer: int | slice) -> Call | list[Call]:
        if isinstance(layer, slice):
            return [self[index] for index in range(self._layers)[layer]]
        return call_of(self.part(layer))

    def __len__(self) -> int:
        return self._layers


class FarAttention(Attention):
    """The attention of one kind. A layer's weights, or what they follow from, are fetched when they are read."""

    def __init__(self, queries: Sequence[Token], keys: Sequence[Token], kind: str, parts: Parts, size: Sequence[Any]) -> None:
        """size: layers, heads, whether its rows are named by the tokens that they serve to choose, and the heads and numbers of
        layers.
        """
        self.queries, self.keys, self.layers, self.heads = tuple(queries), tuple(keys), size[0], size[1]
        self.counts, self.numbers = tuple(size[3]), tuple(size[4])
        self.chooses, self._parts, self._kind, self._known = bool(size[2]), parts, kind, {}
        self.calls = calls = Calls(parts, kind, self.layers)
        self._rotary = lambda layer: rotary_of(calls.part(layer))

    def _compute(self, layer: int, first: int) -> np.ndarray:
        if self._part_name("call", layer) in self._parts:
            return super()._compute(layer, first)
        part = self._parts[self._part_name("weights", layer)]
        weights = part.tensors.get("weights")
        tensor = call_of(part).weights() if weights is None else weights
        return np.array(tensor.numpy()[:, first:])

    def formula(self, layer: int) -> str:
        return self._parts[self._part_name("weights", layer)].facts["formula"]

    def _part_name(self, what: str, layer: int) -> str:
        return f"{what}/{self._kind}/{range(self.layers)[layer]}"


@dataclass(frozen=True)
class FarTrace(Trace):
    """A text that was read elsewhere. It answers as `Trace` does.

    parts_of: its parts, here and to be fetched; size: its bytes in memory there; places: as `LanguageModel.places` returns them.
    """

    parts_of: Parts | None = field(default=None, repr=False, compare=False)
    size: int = 0
    places: tuple[int, ...] = ()

    @property
    def bytes(self) -> int:
        return self.size

    @cached_property
    def last_stream(self) -> np.ndarray:
        return self._part("last", "rows")

    def logits_at(self, position: int | slice | list[int]) -> np.ndarray | None:
        if not self.unembed:
            return None
        if isinstance(position, int | np.integer):
            return self.scores_at(int(position))
        places = np.arange(len(self.read))[position]
        if len(places) > FEW or not len(places):
            return super().logits_at(position)
        rows = [self.scores_at(int(place)) for place in places]
        return np.stack([row for row in rows if row is not None])

    def scores_at(self, position: int) -> np.ndarray | None:
        if not self.predicts:
            return None
        place = range(len(self.read))[position]
        last = place == len(self.read) - 1  # the last is likely to be needed of the next text too
        return self._part(f"scores/{-1 if last else place}", "row")

    def _part(self, name: str, key: str) -> np.ndarray:
        assert self.parts_of is not None, "it is made with its parts"
        return array_of(self.parts_of[name].tensors[key])
