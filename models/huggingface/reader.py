"""Reads a growing text with a model of transformers, from its cache where that is possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import torch
from torch import Tensor
from transformers import Cache
from transformers.modeling_outputs import BaseModelOutput

from models.batches import reading_on
from models.generation import Ids, Read, Reader, first_rows, rows
from models.huggingface.checks import apart, cache
from models.huggingface.passes import Inputs
from models.prefix import Stamp
from models.recorder import recording
from models.tokens import Token

if TYPE_CHECKING:
    from models.huggingface.model import HuggingFaceModel

TOKENS = 24  # of a probe; half of it is read at once, then one token after the other
SINGLES = 3


class HuggingFaceReader(Reader):
    """As `Reader`, by the cache that the network itself makes, or by keys and values that were recorded already."""

    model: HuggingFaceModel

    def __init__(self, model: HuggingFaceModel, begun: list[Token], source: list[Token], cut: int, keeps: bool):
        super().__init__(model, begun, source, cut, keeps and model.reads_on)
        self.ends, self.never = _ends(model), _never(model)
        self.branches = self.keeps and (model._reusable or bool((growth := model._grows) and growth.branches))
        self._past: Cache | None = None
        self._out: Tensor | None = None  # what the encoder made of the source
        self._length = self._versions = 0

    def _now(self) -> Stamp | None:
        return self.model._recent.now()

    def _forget(self) -> None:
        self._past = self._out = None

    def _start(self, versions: Sequence[Ids], stamp: Stamp | None) -> Read:
        model, count = self.model, len(versions[0])
        self._length, self._versions = count, len(versions)
        if self.edits:
            return self._forward(versions, use_cache=True)
        if self.source and len(versions) == 1:
            known, calls, _, out = model._run_both(self.source, versions[0], stamp, use_cache=self._ready)
            self._out = known.out
            self._past = out.past_key_values if self._ready else None
            weights = {"decoder": rows(calls["decoder"], count), "cross": rows(calls["cross"], len(self.source))}
            return Read(out.logits[:, -1].float().cpu().numpy(), weights, count)
        if self._ready and model._reusable:
            trace = model._traced("", [self.token(id) for id in versions[0]], 0, stamp)
            recorded = trace.attention["self"]._calls
            self._past, logits = cache(recorded), trace.logits_at([-1])
            assert logits is not None, "a model that goes on with a text has a language-model head"
            return Read(logits, {"self": rows(recorded, count)}, count)
        return self._forward(versions, use_cache=self._ready)

    def _on(self, ids: list[int], parents: Sequence[int]) -> Read:
        if list(parents) != list(range(self._versions)):
            assert self._past is not None, "`_start` has kept it"
            self._past.reorder_cache(torch.tensor(parents))  # type: ignore[arg-type]  # a tensor of int64 is a LongTensor
        self._versions = len(ids)
        self._length += 1
        return self._forward([[id] for id in ids], past_key_values=self._past, use_cache=True)

    def _forward(self, versions: Sequence[Sequence[int]], **inputs: Unpack[Inputs]) -> Read:
        model, network = self.model, self.model.network
        read = torch.tensor(versions, device=network.device)
        past = self._length - read.shape[1]
        plan = reading_on(model, self.edits, len(versions), past) if self.edits else None
        recorder = plan.running() if plan else recording(streams=False, last=True)
        if self.source:
            inputs |= self._of_source(read, again=plan is not None and not past)
        else:
            inputs["input_ids"] = read
            if model._keeps and read.shape[1] > 1:
                inputs["logits_to_keep"] = 1
        with torch.inference_mode():
            record, answer = model._pass(network, recorder, 0 if self.source else past, **inputs)
        if inputs["use_cache"]:
            self._past = answer.past_key_values
        if self.source and plan and not past:
            self._out = answer.encoder_last_hidden_state
        calls = (
            first_rows(plan.kinds, record) if plan else model._layout.split(record, without="encoder" if self.source else None)
        )
        lengths = {"cross": len(self.source)}
        weights = {kind: rows(some, lengths.get(kind, self._length)) for kind, some in calls.items() if kind != "encoder"}
        return Read(answer.logits[:, -1].float().cpu().numpy(), weights, read.numel())

    def _of_source(self, read: Tensor, again: bool) -> Inputs:
        """What an encoder-decoder is given beside what its decoder reads [version, position]; again: the encoder reads too."""
        source = self.model._ids([one.id for one in self.source]).expand(len(read), -1)
        if again:
            return {"input_ids": source, "decoder_input_ids": read}
        if self._out is None:
            self._out = self.model._run_both(self.source, read[0].tolist(), None, use_cache=False)[0].out
        out = BaseModelOutput(last_hidden_state=self._out.expand(len(read), -1, -1))
        return {"input_ids": source, "decoder_input_ids": read, "encoder_outputs": out}

    def _bytes(self) -> int:
        return cached_bytes(self._past)


def cached_bytes(past: Cache | None) -> int:
    """Of all that a cache of transformers holds, states of layers without attention too."""
    if past is None:
        return 0
    parts = [part for name in ("self_attention_cache", "cross_attention_cache") if (part := getattr(past, name, None))] or [past]
    held = [one for part in parts for layer in part.layers for one in vars(layer).values()]
    tensors = [one for some in held for one in (some if isinstance(some, list | tuple) else [some]) if isinstance(one, Tensor)]
    return sum({one.untyped_storage().data_ptr(): one.numel() * one.element_size() for one in tensors}.values())


@dataclass(frozen=True)
class Growth:
    """How a network's own cache grows. fixed: bytes that it holds before the first token; each: bytes of a token more; branches:
    whether it goes on with several versions of a text, as a beam search does."""

    fixed: int
    each: int
    branches: bool


def grows(model: HuggingFaceModel) -> Growth | None:
    """Whether the network's own cache gives what reading all again gives: logits and weights of the last of a few tokens.

    None where it does not, or where there is none.
    """
    start = [one.id for one in (model._said("") if model.kind == "encoder-decoder" else model._tokens(""))]
    ids = (*start, *model._probe(min(TOKENS, model.room or TOKENS) - len(start))["input_ids"][0].tolist())
    source = [model._special(id) for id in ids] if model.kind == "encoder-decoder" else []
    reader, half = _prober(model, ids, source), len(ids) // 2
    try:
        reader._ready = True
        reader._start([ids[:half]], None)
        bytes = reader._bytes()
        for at in range(half, half + SINGLES):
            found = reader._on([ids[at]], [0])
        held, read = reader._bytes(), ids[: half + SINGLES]
        if not bytes or not _same(model, found, _prober(model, ids, source)._start([read], None)):
            return None
    except Exception:  # each family has its own way to say that it has no cache
        return None
    each = (held - bytes) // SINGLES
    return Growth(bytes - half * each, each, _branches(model, reader, read, ids, source))


def _branches(model: HuggingFaceModel, reader: HuggingFaceReader, read: Ids, ids: Ids, source: list[Token]) -> bool:
    """Whether a reader of a text goes on with two versions of it, and with the second one first."""
    a, b, c = ids[1], ids[-1], ids[-2]
    try:
        reader._on([a, b], [0, 0])
        found = reader._on([c, c], [1, 0])
        return _same(model, found, _prober(model, ids, source)._start([(*read, b, c), (*read, a, c)], None))
    except Exception:
        return False


def _prober(model: HuggingFaceModel, ids: Ids, source: list[Token]) -> HuggingFaceReader:
    """A reader that does not ask first whether the model reads on."""
    reader = HuggingFaceReader.__new__(HuggingFaceReader)
    Reader.__init__(reader, model, [model._special(ids[0])], source, 0, True)
    reader._past, reader._out = None, None
    return reader


def _same(model: HuggingFaceModel, one: Read, other: Read) -> bool:
    pairs = [(one.logits, other.logits), *((one.attention[kind], other.attention[kind]) for kind in other.attention)]
    close = 1e-4 if model.network.dtype == torch.float32 else 5e-2
    return all(a.shape == b.shape and apart(*map(torch.tensor, (a, b))) <= close for a, b in pairs)


def _ends(model: HuggingFaceModel) -> frozenset[int]:
    found = getattr(getattr(model.network, "generation_config", None), "eos_token_id", None)
    found = model.vocabulary.tokenizer.eos_token_id if found is None else found
    return frozenset(found if isinstance(found, list) else [] if found is None else [found])


def _never(model: HuggingFaceModel) -> frozenset[int]:
    config = getattr(model.network, "generation_config", None)
    single = [one[0] for one in getattr(config, "bad_words_ids", None) or () if len(one) == 1]
    return frozenset(single) | frozenset(getattr(config, "suppress_tokens", None) or ())
