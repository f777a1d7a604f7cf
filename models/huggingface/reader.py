"""Reading on: a model of transformers reads the new tokens of a text that grows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import torch
from torch import Tensor
from transformers import Cache, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from models.attention.recorder import recording
from models.editing.batches import reading_on
from models.generation.generate import Ids, Read, Reader, first_rows, rows
from models.huggingface.checks import cache_of, relative_difference
from models.huggingface.followed import FollowedNetwork
from models.huggingface.model_texts import ModelTexts
from models.huggingface.passes import Inputs
from models.huggingface.text import TextTokens
from models.reading.prefix import Stamp
from models.reading.readable import ReadableModel
from models.tokens import Token
from models.trace import Trace

TOKENS = 24  # of a probe; half of it is read at once, then one token after the other
SINGLES = 3


class GrowingModel(ReadableModel):
    """The part of a model of transformers that a `HuggingFaceReader` uses."""

    network: PreTrainedModel
    vocabulary: TextTokens
    followed: FollowedNetwork
    texts: ModelTexts
    kind: str

    @property
    @abstractmethod
    def reads_on(self) -> bool:
        """Whether it reads on from keys and values as a text grows, which is tried once; else it reads all of it again."""

    @property
    @abstractmethod
    def growth(self) -> Growth | None:
        """The growth of the network's own cache; None where it cannot read on from that."""

    @abstractmethod
    def trace_tokens(self, text: str, tokens: list[Token], cut: int, stamp: Stamp | None) -> Trace:
        """Return the trace of the tokens of a text, whose stack is one, read or from memory. cut: as `Trace.cut`."""


class HuggingFaceReader(Reader):
    """A `Reader` that reads on from the network's own cache, or from recorded keys and values."""

    model: GrowingModel

    def __init__(self, model: GrowingModel, begun: list[Token], source: list[Token], cut: int, keeps: bool):
        super().__init__(model, begun, source, cut, keeps and model.reads_on)
        self.ends, self.never = _end_ids(model), _never_ids(model)
        self.branches = self.keeps and (model.followed.reusable or bool((growth := model.growth) and growth.branches))
        self._past: Cache | None = None
        self._out: Tensor | None = None  # the encoded source
        self._length = self._versions = 0

    def _now(self) -> Stamp | None:
        return self.model.followed.recent.now()

    def _forget(self) -> None:
        self._past = self._out = None

    def _start(self, versions: Sequence[Ids], stamp: Stamp | None) -> Read:
        model, count = self.model, len(versions[0])
        self._length, self._versions = count, len(versions)
        if self.edits:
            return self._forward(versions, use_cache=True)
        if self.source and len(versions) == 1:
            encoded, calls, _, out = model.followed.run_both(self.source, versions[0], stamp, use_cache=self.ready)
            self._out = encoded.out
            self._past = out.past_key_values if self.ready else None
            weights = {"decoder": rows(calls["decoder"], count), "cross": rows(calls["cross"], len(self.source))}
            return Read(out.logits[:, -1].float().cpu().numpy(), weights, count)
        if self.ready and model.followed.reusable:
            trace = model.trace_tokens("", [self.token(id) for id in versions[0]], 0, stamp)
            recorded = trace.attention["self"].calls
            self._past, logits = cache_of(recorded), trace.logits_at([-1])
            assert logits is not None, "a model that goes on with a text has a language-model head"
            return Read(logits, {"self": rows(recorded, count)}, count)
        return self._forward(versions, use_cache=self.ready)

    def _on(self, ids: list[int], parents: Sequence[int]) -> Read:
        if list(parents) != list(range(self._versions)):
            assert self._past is not None, "`_start` has kept it"
            self._past.reorder_cache(torch.tensor(parents))  # type: ignore[arg-type]  # a tensor of int64 is a LongTensor
        self._versions = len(ids)
        self._length += 1
        return self._forward([[id] for id in ids], past_key_values=self._past, use_cache=True)

    def _forward(self, versions: Sequence[Sequence[int]], **inputs: Unpack[Inputs]) -> Read:
        model, followed = self.model, self.model.followed
        ids = torch.tensor(versions, device=followed.network.device)
        past = self._length - ids.shape[1]
        plan = reading_on(model, self.edits, len(versions), past) if self.edits else None
        recorder = plan.running() if plan else recording(streams=False, last=True)
        if self.source:
            inputs |= self._of_source(ids, again=plan is not None and not past)
        else:
            inputs["input_ids"] = ids
            if followed.limits_logits and ids.shape[1] > 1:
                inputs["logits_to_keep"] = 1
        with torch.inference_mode():
            record, answer = followed.forward(followed.network, recorder, 0 if self.source else past, **inputs)
        if inputs["use_cache"]:
            self._past = answer.past_key_values
        if self.source and plan and not past:
            self._out = answer.encoder_last_hidden_state
        calls = (
            first_rows(plan.kinds, record) if plan else followed.layout.split(record, without="encoder" if self.source else None)
        )
        lengths = {"cross": len(self.source)}
        weights = {kind: rows(some, lengths.get(kind, self._length)) for kind, some in calls.items() if kind != "encoder"}
        return Read(answer.logits[:, -1].float().cpu().numpy(), weights, ids.numel())

    def _of_source(self, ids: Tensor, again: bool) -> Inputs:
        """Return the inputs of an encoder-decoder whose decoder reads `ids` [version, position]. again: the encoder runs too."""
        source = self.model.followed.ids([token.id for token in self.source]).expand(len(ids), -1)
        if again:
            return {"input_ids": source, "decoder_input_ids": ids}
        if self._out is None:
            self._out = self.model.followed.run_both(self.source, ids[0].tolist(), None, use_cache=False)[0].out
        out = BaseModelOutput(last_hidden_state=self._out.expand(len(ids), -1, -1))
        return {"input_ids": source, "decoder_input_ids": ids, "encoder_outputs": out}

    def _bytes(self) -> int:
        return cached_bytes(self._past)


def cached_bytes(past: Cache | None) -> int:
    """Return the bytes of all that a cache of transformers holds, states of layers without attention too."""
    if past is None:
        return 0
    parts = [part for name in ("self_attention_cache", "cross_attention_cache") if (part := getattr(past, name, None))] or [past]
    values = [value for part in parts for layer in part.layers for value in vars(layer).values()]
    tensors = [
        tensor
        for value in values
        for tensor in (value if isinstance(value, list | tuple) else [value])
        if isinstance(tensor, Tensor)
    ]
    return sum({tensor.untyped_storage().data_ptr(): tensor.numel() * tensor.element_size() for tensor in tensors}.values())


@dataclass(frozen=True)
class Growth:
    """The growth of a network's own cache.

    fixed: bytes that it holds before the first token; each: bytes of each further token; branches: whether it can read on with
    several versions of a text, as a beam search does.
    """

    fixed: int
    each: int
    branches: bool


def measure_growth(model: GrowingModel) -> Growth | None:
    """Measure the growth of the network's own cache, and check that reading on from it equals reading everything again.

    Logits and attention of the last of a few tokens are compared. None where they differ, or where there is no cache.
    """
    texts, followed = model.texts, model.followed
    start = [token.id for token in (texts.decoder_tokens("") if model.kind == "encoder-decoder" else texts.tokens(""))]
    ids = (*start, *followed.probe(min(TOKENS, model.room or TOKENS) - len(start))["input_ids"][0].tolist())
    source = [texts.special(id) for id in ids] if model.kind == "encoder-decoder" else []
    reader, half = _prober(model, ids, source), len(ids) // 2
    try:
        reader.ready = True
        reader._start([ids[:half]], None)
        bytes = reader._bytes()
        for at in range(half, half + SINGLES):
            last_read = reader._on([ids[at]], [0])
        bytes_after, prefix = reader._bytes(), ids[: half + SINGLES]
        if not bytes or not _agree(model, last_read, _prober(model, ids, source)._start([prefix], None)):
            return None
    except Exception:  # each family has its own way to say that it has no cache
        return None
    each = (bytes_after - bytes) // SINGLES
    return Growth(bytes - half * each, each, _can_branch(model, reader, prefix, ids, source))


def _can_branch(model: GrowingModel, reader: HuggingFaceReader, prefix: Ids, ids: Ids, source: list[Token]) -> bool:
    """Return whether a reader can read on with two versions of a text, and with the second one first."""
    a, b, c = ids[1], ids[-1], ids[-2]
    try:
        reader._on([a, b], [0, 0])
        last_read = reader._on([c, c], [1, 0])
        return _agree(model, last_read, _prober(model, ids, source)._start([(*prefix, b, c), (*prefix, a, c)], None))
    except Exception:
        return False


def _prober(model: GrowingModel, ids: Ids, source: list[Token]) -> HuggingFaceReader:
    """Return a reader that does not ask first whether the model reads on."""
    reader = HuggingFaceReader.__new__(HuggingFaceReader)
    Reader.__init__(reader, model, [model.texts.special(ids[0])], source, 0, True)
    reader._past, reader._out = None, None
    return reader


def _agree(model: GrowingModel, answer: Read, other: Read) -> bool:
    pairs = [(answer.logits, other.logits), *((answer.attention[kind], other.attention[kind]) for kind in other.attention)]
    close = 1e-4 if model.network.dtype == torch.float32 else 5e-2
    return all(a.shape == b.shape and relative_difference(*map(torch.tensor, (a, b))) <= close for a, b in pairs)


def _end_ids(model: GrowingModel) -> frozenset[int]:
    ids = getattr(getattr(model.network, "generation_config", None), "eos_token_id", None)
    ids = model.vocabulary.tokenizer.eos_token_id if ids is None else ids
    return frozenset(ids if isinstance(ids, list) else [] if ids is None else [ids])


def _never_ids(model: GrowingModel) -> frozenset[int]:
    config = getattr(model.network, "generation_config", None)
    single = [ids[0] for ids in getattr(config, "bad_words_ids", None) or () if len(ids) == 1]
    return frozenset(single) | frozenset(getattr(config, "suppress_tokens", None) or ())
