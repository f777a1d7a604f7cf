"""The reader of a growing text for a transformer of our own."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor

from models.attention.recorded_call import Call
from models.attention.recorder import recording
from models.editing.batches import reading_on
from models.generation.generate import Ids, Read, Reader, first_rows, rows
from models.reading.prefix import Encoded, Stamp
from models.reading.readable import ReadableModel
from models.scratch.transformer import Cache, Stack
from models.tokens import ByteLevelTokens, Token
from models.trace import Trace


class CacheableModel(ReadableModel):
    """The part of a transformer of our own that a `ScratchReader` uses."""

    vocabulary: ByteLevelTokens

    @property
    @abstractmethod
    def stack(self) -> Stack:
        """The stack that reads the text."""

    @abstractmethod
    def trace_tokens(self, text: str, tokens: list[Token], cut: int, target: str, stamp: Stamp | None) -> Trace:
        """Read tokens that fit. stamp: as `Recent` takes it."""

    @abstractmethod
    def encoded(self, tokens: Sequence[Token], stamp: Stamp | None) -> Encoded:
        """Return the encoder's result for tokens that fit. Errors: ValueError for a model of one stack."""

    @abstractmethod
    def batch_ids(self, texts: Sequence[Sequence[Token]]) -> Tensor:
        """Return the ids of texts that are equally long: int64 [text, position]."""


class ScratchReader(Reader):
    """A `Reader` with a `models.scratch.transformer.Cache`. A beginning that was read in another text is not read again."""

    model: CacheableModel

    def __init__(self, model: CacheableModel, begun: list[Token], source: list[Token], cut: int, keeps: bool):
        super().__init__(model, begun, source, cut, keeps)
        end = model.vocabulary.end
        self.ends = frozenset() if end is None else frozenset([end])
        self._cache: Cache | None = None
        self._memory: Tensor | None = None

    def _now(self) -> Stamp | None:
        return self.model.recent.now()

    def _forget(self) -> None:
        self._cache = self._memory = None

    def _start(self, versions: Sequence[Ids], stamp: Stamp | None) -> Read:
        if self.edits:
            self._cache = Cache()
            return self._forward(versions, self._cache)
        if self.source:
            self._memory = self.model.encoded(self.source, stamp).out
        if not self.ready:
            return self._forward(versions, None)
        if self.source:
            self._cache = Cache()
            return self._forward(versions, self._cache)
        trace = self.model.trace_tokens("", [self.token(id) for id in versions[0]], 0, "", stamp)
        calls = trace.attention["self"].calls
        self._cache, logits = cached(calls), trace.logits_at([-1])
        assert logits is not None, "a decoder has a language-model head"
        return Read(logits, {"self": rows(calls, len(versions[0]))}, len(versions[0]))

    def _on(self, ids: list[int], parents: Sequence[int]) -> Read:
        assert self._cache is not None, "`_start` has kept it"
        if list(parents) != list(range(self._cache.layers[0][0].shape[0])):
            self._cache = self._cache.rows(torch.tensor(parents))
        return self._forward([[id] for id in ids], self._cache)

    def _forward(self, ids: Sequence[Sequence[int]], cache: Cache | None) -> Read:
        network = self.model.network
        read = torch.tensor(ids, device=self.model.stack.embedding.weight.device)
        plan = reading_on(self.model, self.edits, len(ids), cache.length if cache else 0) if self.edits else None
        with torch.inference_mode(), plan.running() if plan else recording(streams=False, last=True) as record:
            if self.source and self._memory is None:
                self._memory = network.encode(self.model.batch_ids([self.source]))
            memory = None if self._memory is None else self._memory.expand(len(ids), -1, -1)
            stream = network.hidden(read, cache) if memory is None else network.hidden(read, memory, cache)
            logits = network.unembed(stream[:, -1]).float().cpu().numpy()
        keys = cache.length if cache is not None else read.shape[1]
        if plan:
            calls = first_rows(plan.kinds, record)
        else:
            calls = {"self": record.calls} if memory is None else {"decoder": record.calls[::2], "cross": record.calls[1::2]}
        lengths = {"cross": len(self.source)}
        weights = {kind: rows(kind_calls, lengths.get(kind, keys)) for kind, kind_calls in calls.items() if kind != "encoder"}
        return Read(logits, weights, read.numel())

    def _bytes(self) -> int:
        if self._cache is None:
            return 0
        return sum(
            tensor.numel() * tensor.element_size() for pair in (*self._cache.layers, *self._cache.source) for tensor in pair
        )


def cached(calls: Sequence[Call]) -> Cache:
    """Return a cache with the keys and values of the calls that read the beginning of a text, one for each layer."""
    pairs = (call.keys_and_values for call in calls)
    return Cache([(key[None], value[None]) for key, value in pairs])
