"""A network of transformers with its tokenizer, as a LanguageModel: text in, Trace out."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import Any, Unpack, cast

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase
from transformers.modeling_outputs import BaseModelOutput

from models.batches import Ready, alone, of_trace, plan_of
from models.editing import Plan
from models.errors import ModelError
from models.generation import Reader
from models.given import Spelt, tokens_at_end
from models.gradients import Gradients, gradients
from models.huggingface import layout, quirks
from models.huggingface.attention import NAME, SoftmaxTap
from models.huggingface.chat import as_chat, chats
from models.huggingface.checks import Checks, cache
from models.huggingface.names import quoted, short
from models.huggingface.outputs import Outputs
from models.huggingface.passes import Answer, Inputs
from models.huggingface.reader import Growth, HuggingFaceReader, grows
from models.huggingface.reads import Reads
from models.huggingface.text import TextTokens
from models.huggingface.turns import turns
from models.huggingface.two_stacks import agrees, at_each_position, end_of, read_by_decoder
from models.language_model import LanguageModel, ModelInfo, check_plain, check_text
from models.long import beginning, moved
from models.outcomes import Labels
from models.prefix import Encoded, Ids, Recent, Stamp, first, joined
from models.readonly import array_of
from models.recorder import Call, Record, recording
from models.rotary import Rotary
from models.shuffling import shuffle
from models.stored_weights import WeightsFile
from models.tokens import Token, Turn, one_each
from models.trace import Attention, Trace
from models.watching import Private, Watched, hook, private, watch_rows

ROWS = 2**23  # numbers of logits that are made at once
BOTH_WAYS = "It sees both ways, so it does not predict what comes next."
POOLED = "Its labels are made of several tokens at once in a way that cannot be followed here, so none are shown."
FIRST = "It reads one text. Of a pair of texts, such as a claim that is to follow from another, it is given the first alone."
FULL = "It reads at most {} tokens: longer texts it would read with sparse attention, which is not shown here."
SPELT = 8  # tokens of the text before that are spelt beside what was said
LONG = 72  # tokens of the longer probe: some models read short texts in another way


class HuggingFaceModel(LanguageModel):
    """Any text model of transformers. Safe to share between threads.

    kind: "decoder" | "encoder" | "encoder-decoder"; predicts: whether it has a language-model head; labels: of a classifier.
    Errors: ModelError when its attention or its layers cannot be followed.
    """

    network: PreTrainedModel
    vocabulary: TextTokens

    def __init__(
        self,
        network: PreTrainedModel,
        tokenizer: PreTrainedTokenizerBase,
        kind: str,
        predicts: bool = True,
        name: str = "model",
        source: str = "",
        notes: Sequence[str] = (),
        files: tuple[WeightsFile, ...] = (),
        revision: str = "",
        labels: Labels | None = None,
    ):
        self.network = network.eval().requires_grad_(False)
        self.files, self.revision = files, revision
        self.vocabulary = TextTokens(tokenizer)
        self.kind, self.predicts, self.labels = kind, predicts and not labels, labels
        if labels and kind == "encoder-decoder":
            at_each_position(self.network)
        forced = getattr(getattr(network, "generation_config", None), "forced_bos_token_id", None)
        if not self.vocabulary.target_language:
            codes = {id: code for code, id in self.vocabulary.languages.items()}
            self.vocabulary.target_language = codes.get(forced, "") if isinstance(forced, int) else ""
        self.config = network.config.get_text_config(decoder=kind != "encoder")
        self.start = _start(network.config, tokenizer)
        if self._labels_text and getattr(self.config, "pad_token_id", None) is None:
            self.config.pad_token_id = -1  # transformers reads no two texts at once without one; no token is it
        self.mask = self.vocabulary.mask if kind == "encoder" else ""
        self.bytes = sum(one.numel() * one.element_size() for one in network.parameters())
        self._notes = list(notes)
        self._full: int | None = None  # the longest text that is read as it is read here
        self._tap: int | None = None
        self._each: frozenset[int] = frozenset()  # layers after the last block that are run row by row
        self._tail: Callable[[np.ndarray], np.ndarray] | None = None  # those that are not
        if not all(bool(torch.isfinite(one.sum(dtype=torch.float32))) for one in network.parameters() if one.is_floating_point()):
            raise ModelError("Some of its weights are not numbers (NaN or infinite), so nothing it says can be trusted.")
        try:
            self._ready()
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(
                f"{type(network).__name__} could not be followed while it read a few tokens: {short(error, 120)}. {layout.CHOOSE}"
            ) from error
        self.info = self._facts(name, source)
        self._recent = Recent(self.network)

    def tokenize(self, text: str) -> list[Token]:
        check_text(text)
        return self._tokens(text)

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return id in self.vocabulary.special

    @property
    def device(self) -> str:
        return str(self.network.device)

    @property
    def ids(self) -> int:
        return self._rows or self.vocabulary.size

    @property
    def reads_on(self) -> bool:
        """Whether a text that grows is read on from keys and values, which is tried once; else it is read again at each step."""
        return self._reusable or self._grows is not None

    @cached_property
    def _grows(self) -> Growth | None:
        return grows(self)

    def cache_bytes(self, length: int, source: int = 0) -> int:
        if not self.reads_on:
            return 0
        if self.kind == "decoder" and not self._reusable:  # as its own cache grew when it was tried
            growth = self._grows
            assert growth is not None, "`reads_on` says so"
            return growth.fixed + growth.each * length
        size = self.network.dtype.itemsize
        return size * sum(
            numbers * {"self": length, "decoder": length, "cross": source}.get(kind, 0) for kind, numbers in self._kept.items()
        )

    def spell(self, ids: Sequence[int], after: Sequence[int] = ()) -> str:
        before = list(after[-SPELT:])  # a word begins otherwise at the front of a text
        whole, front = self.vocabulary.decode([*before, *ids]), self.vocabulary.decode(before)
        return whole.removeprefix(front)

    def forget(self, but_for: Callable[[Hashable], bool] | None = None) -> None:
        self._recent.forget(but_for)

    @property
    def chats(self) -> bool:
        return self.kind == "decoder" and self.predicts and chats(self.vocabulary)

    def as_chat(self, text: str) -> Turn:
        check_text(text)
        return as_chat(self.vocabulary, text) if self.chats else super().as_chat(text)

    def _reader(self, text: str, target: str, cache: bool, chat: bool) -> Reader:
        if chat:
            tokens, cut = self._fitting(list(self.as_chat(text).tokens), text)
            return HuggingFaceReader(self, tokens, [], cut, cache)
        if self.kind == "encoder-decoder":
            tokens, cut, said = self._source_and_target(text, target)
            return HuggingFaceReader(self, said, tokens, cut, cache)
        tokens, cut = self._fitting(tokens_at_end(self._tokens, text, self.room), text)
        return HuggingFaceReader(self, tokens, [], cut, cache)

    def _read(self, text: str, target: str, remember: bool) -> Trace:
        stamp = self._recent.now(remember)
        if self.kind == "encoder-decoder":
            return self._read_both(text, target, stamp)
        tokens, cut = self._to_read(text, target)
        return self._traced(text, tokens, cut, stamp)

    def _to_read(self, text: str, target: str) -> tuple[list[Token], int]:
        """The tokens of one text, or two, that fit, and how many characters do not. Errors: ValueError where only one is read."""
        if target and not (self.kind == "encoder" and self.vocabulary.pairs):
            raise ValueError(f"{self.info.name} reads one text at a time. Leave the second one empty.")
        if isinstance(text, Spelt) or isinstance(target, Spelt):
            if target and not (isinstance(text, Spelt) and isinstance(target, Spelt)):
                raise ValueError("Give both texts of a pair as text, or both as ids of tokens.")
            return self._fitting([*tokens_at_end(self._tokens, text, self.room), *(getattr(target, "tokens", ()))], text)
        starts = [beginning(self._tokens, one, self.room) for one in (text, target)]
        return self._fitting(moved(self._tokens(text[starts[0] :], target[starts[1] :]), *starts), text)

    @property
    def shares_layers(self) -> bool:
        return any(len(set(map(id, layers))) < len(layers) for layers in self._layout.layers.values())

    # What edits need

    def _prepare(self, text: str, target: str) -> Ready:
        if self.kind == "encoder-decoder":
            tokens, cut, said = self._source_and_target(text, target)
            return Ready(text, tokens, said, cut)
        tokens, cut = self._to_read(text, target)
        return Ready(text, tokens, [], cut)

    @cached_property
    def _order(self) -> tuple[list[tuple[str, int]], dict[str, list[int]]]:
        return self._layout.order, self._layout.places

    def _pass_edited(
        self,
        texts: Sequence[Sequence[Token]],
        said: Sequence[Sequence[Token]],
        plan: Plan,
        outs: bool = False,
        stream: Tensor | None = None,
    ) -> Record:
        inputs = self._inputs(texts, [[token.id for token in one] for one in said])
        network = self.network if any(said) else self.network.base_model
        if stream is None:
            return self._pass(network, plan.running(outs), **inputs)[0]
        but = frozenset(map(id, self._layout.layers["self"][plan.first :]))
        with layout.skipping(stream.to(self.network.device, self.network.dtype), but):
            return self._pass(network, plan.running(outs), **inputs)[0]

    def _turned(self, kind: str) -> dict[str, Any]:
        return {"rotary": self._rotary} if kind == "self" else {}

    def _traced(self, text: str, tokens: list[Token], cut: int, stamp: Stamp | None) -> Trace:
        ids = tuple(token.id for token in tokens)
        if same := self._recent.same(stamp, ids, text, tokens):
            return same
        if self.kind == "encoder":
            calls, hidden = self._encode(tokens)
            known: dict[int, np.ndarray] = {}
        else:
            calls, hidden, known = self._decode(ids, stamp)
        attention = {"self": Attention(tokens, tokens, calls, known, self._rotary)}
        words, labels = self._unembed if self.predicts else None, self._label
        trace = Trace(text, tokens, attention, {"self": hidden}, cut, words, tail=self._tail, label=labels)
        if self._reusable:
            self._recent.keep(stamp, ids, trace)
        return trace

    def gradients(self, trace: Trace, position: int, token: int) -> dict[str, Gradients]:
        self._must_predict()
        if not -len(trace.read) <= position < len(trace.read):
            raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
        position %= len(trace.read)
        inputs = self._inputs([trace.tokens], [[token.id for token in trace.target]])
        network = self.network if trace.target else self.network.base_model
        with torch.enable_grad():
            if trace.edits:
                record = alone(self._pass_edited([trace.tokens], [trace.target], plan_of(self, [of_trace(trace)]), outs=True))
            else:
                record, _ = self._pass(network, recording(outs=True), **inputs)
            stream = record.hidden["decoder" if trace.target else "self"][-1]
            if self.labels is not None and self.labels.pooled:
                logits = self._pooled(stream[None])[0]
            else:  # all layers have run, those behind the last block too
                logits = self._logits(stream[position : position + 1].to(self.network.dtype))[0]
            return gradients(logits[token], self._layout.split(record), self._layout.split(record, of=record.outs))

    def logits_of(
        self,
        texts: Sequence[Sequence[Token]],
        position: int = -1,
        target: Sequence[Token] | Sequence[Sequence[Token]] = (),
    ) -> np.ndarray:
        self._must_predict()
        labelled, ends = self._labels_text, None
        said = [[token.id for token in one] for one in one_each(target, len(texts))]
        if self.labels is not None and self.kind == "encoder-decoder":
            ids = [[token.id for token in text] for text in texts]
            said, ends = [read_by_decoder(self.network, one) for one in ids], [end_of(self.network, one) for one in ids]
        last = self._keeps and not any(said) and position == -1  # logits are large: no others are made then
        made = 1 if last else len(said[0] or texts[0])
        at_once, found = max(1, ROWS // (made * self.vocabulary.size)), []
        for start in range(0, len(texts), at_once):
            part = texts[start : start + at_once]
            inputs = self._inputs(part, said[start : start + at_once])
            if last:
                inputs["logits_to_keep"] = 1
            with torch.inference_mode():
                out = self.network(**inputs, attention_mask=torch.ones_like(inputs["input_ids"]), return_dict=True)
            rows = range(len(part)), position if ends is None else ends[start : start + at_once]
            found.append((out.logits if labelled else out.logits[rows]).float().cpu().numpy())
        return np.concatenate(found)

    def watch(self, trace: Trace, stack: str, layer: int, positions: Sequence[int]) -> Watched:
        check_plain(trace)
        copied = self._to_watch()
        network, found = copied.network, copied.layout
        ours = {id(block) for block in found.blocks[stack]}
        target = [i for i, one in enumerate(found.layers[stack]) if id(one) in ours][layer]
        inputs = self._inputs([trace.tokens], [[token.id for token in trace.target]])
        memory: Tensor | None = None
        source = network.base_model
        with torch.inference_mode():
            if stack != "self":
                source = network.get_encoder()
                inputs = {"input_ids": inputs["input_ids"]}
            if stack == "decoder":
                known = self._recent.get(self._recent.now(), tuple(one.id for one in trace.tokens))
                memory = known.out if known else self._pass(source, recording(), **inputs)[1].last_hidden_state
                inputs = self._inputs([trace.tokens], [[token.id for token in trace.target]])
                inputs["encoder_outputs"] = BaseModelOutput(last_hidden_state=memory)
                source = network.base_model if self.labels else network  # a head for labels is not followed

            def run() -> Tensor:
                _, out = self._pass(source, recording(), **inputs)
                return out.last_hidden_state if "last_hidden_state" in out else out.logits

            head = self.predicts and stack != "encoder"
            hidden = trace.hidden.get(stack)
            stream = None if hidden is None else (self._numbers(hidden[layer]), self._numbers(hidden[layer + 1]))
            watched = copied.near(found.layers[stack], target, run, bool(positions) and not head, stream)
            if head and positions:
                rows = self._numbers(trace.stream[-1][list(positions)])[None]
                but = frozenset(map(id, found.tail(stack))) if self._each else frozenset()
                with layout.skipping(rows, but):
                    watched.head = watch_rows(rows, lambda _: network(**self._blank(rows[0]), return_dict=True).logits)
        watched.memory = None if memory is None else memory[0]
        return watched

    def _copied(self, number: int | None) -> Private:
        network, found = private(self.network, self._layout)
        layers = list({id(one): one for stack in found.layers.values() for one in stack}.values())
        for one in layers:
            vars(one).pop("forward", None)  # it speaks of the other network's layer
        stream = self._stream.like(found)
        stream.install()
        hook(network, layers)
        return Private(number, network, found, skips=not any(stream.shape.values()) and not stream.turned)

    def _numbers(self, values: np.ndarray) -> Tensor:
        """An array where the network is, in its type."""
        values = np.ascontiguousarray(values)
        return torch.tensor(values, device=self.network.device, dtype=self.network.dtype)  # a copy: traces are read-only

    def with_random_weights(self, seed: int) -> HuggingFaceModel:
        try:
            network: Any = type(self.network)(copy.deepcopy(self.network.config))
            network.to(self.network.device, self.network.dtype)
            network.load_state_dict(self.network.state_dict(), strict=False)
            shuffle(network, seed)
            name, source = self.info.name, self.info.source
            tokens, labels = self.vocabulary.tokenizer, self.labels
            other = HuggingFaceModel(network, tokens, self.kind, self.predicts, name, source, labels=labels)
        except Exception as error:
            raise ValueError(f"{self.info.name} could not be made again with random weights: {short(error, 120)}.") from error
        other.at_most, other.vocabulary.target_language = self.at_most, self.vocabulary.target_language
        return other

    def output_weights(self, kind: str, layer: int) -> np.ndarray:
        return self._outputs.weights(kind, layer)

    def query_weights(self, kind: str, layer: int) -> np.ndarray:
        return self._reads.weights("query", kind, layer)

    def key_weights(self, kind: str, layer: int) -> np.ndarray:
        return self._reads.weights("key", kind, layer)

    def value_weights(self, kind: str, layer: int) -> np.ndarray:
        return self._reads.weights("value", kind, layer)

    def normed(self, kind: str) -> bool:
        return self._reads.normed(kind)

    def way_out(self, rows: Tensor) -> Tensor:
        self._must_predict()
        rows = rows.to(self.network.device, self.network.dtype)
        parts = rows.split(self._positions or len(rows))
        return torch.cat([self._logits(part, self._each) for part in parts]).to(rows.device)

    def _answers(self, streams: Tensor, position: int) -> Tensor:
        return self._pooled(streams) if self.labels is not None and self.labels.pooled else super()._answers(streams, position)

    @property
    def cap(self) -> float | None:
        return getattr(self.config, "final_logit_softcapping", None)

    def way_out_formula(self, stream: str = "h") -> str:
        return self._way_out.format(stream=stream)

    @cached_property
    def _way_out(self) -> str:
        # Matrices around the base model are a transform; where there is a norm, a stream twice as long changes nothing.
        network, last = self.network, self.network.get_output_embeddings()
        heads = [child for child in network.children() if not isinstance(child, PreTrainedModel)]
        transform = any(isinstance(one, nn.Linear) and one is not last for head in heads for one in head.modules())
        rows = torch.from_numpy(np.random.default_rng(0).normal(size=(4, self.info.d_model)).astype(np.float32))
        with torch.inference_mode():
            once, twice = (self.way_out(factor * rows).float() for factor in (1, 2))
        norm = torch.allclose(once, twice, rtol=1e-2, atol=1e-3)
        inside = "t({stream})" if transform else "norm({stream})" if norm else "{stream}"
        formula = f"Wᵁ · {inside}" + (" + b" if getattr(last, "bias", None) is not None else "")
        return f"c · tanh(({formula}) / c), c = {self.cap:g}" if self.cap else formula

    def unembedding(self) -> np.ndarray:
        last: Any = self.network.get_output_embeddings() if self.predicts else None
        if last is None or "t(" in self._way_out or last.weight.shape[1] != self.info.d_model:
            return super().unembedding()
        return array_of(last.weight)

    @property
    def _tables(self) -> list[Tensor]:
        both = self.kind == "encoder-decoder"
        stacks = [self.network.get_encoder(), self.network.get_decoder()] if both else [self.network]
        return [cast(nn.Embedding, stack.get_input_embeddings()).weight for stack in stacks]

    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        table = cast(nn.Embedding, self.network.get_input_embeddings())
        return array_of(table.weight[ids])

    def _rotary(self, layer: int) -> Rotary | None:
        return self._turns[layer]

    @cached_property
    def _turns(self) -> list[Rotary | None]:
        word = next((token.id for token in self._tokens("the") if not token.special), 0)
        return turns(
            self.network, lambda count: self._run(self.network.base_model, input_ids=self._ids([word] * count))[0]["self"]
        )

    @property
    def _label(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """As `Trace.label`. Of what is made of all rows at once `Trace.tail` gives the scores."""
        if self.labels is None:
            return None
        return np.asarray if self.labels.pooled else self._unembed

    @property
    def _labels_text(self) -> bool:
        """Whether what it gives is one answer for a text, and not one at each position. (That of two stacks is read at one.)"""
        return self.labels is not None and not self.labels.each and self.kind != "encoder-decoder"

    def places(self, trace: Trace) -> list[int]:
        if self.labels is not None and self.kind == "encoder-decoder":
            return [end_of(self.network, [token.id for token in trace.tokens])]
        found = super().places(trace)
        if self._labels_text and found != [0]:  # what fills a batch up is passed over, as transformers does
            fill = self.config.pad_token_id
            found = [max((i for i, token in enumerate(trace.tokens) if token.id != fill), default=0)]
        return found

    def _must_predict(self) -> None:
        if not (self.predicts or self.labels):
            raise ValueError(f"{self.info.name} has no language-model head, so it makes no predictions.")

    # What is read

    def _tokens(self, text: str, second: str = "") -> list[Token]:
        tokens = self.vocabulary.tokens(text, second or None)
        if self.kind == "decoder" and not self.labels:
            while len(tokens) > 1 and tokens[-1].special and tokens[-1].start == tokens[-1].end:
                tokens = tokens[:-1]  # an end that nobody typed: what comes after it is not what comes next
        return tokens or [self._special(self.start)]

    def _said(self, target: str) -> list[Token]:
        """What the decoder is given: its start token, then the target, without what ends it.

        A model that names no start (mBART) is started by the language that its tokenizer puts at the end; a translator of many
        languages (NLLB, M2M100) by its start token and then the language.
        """
        if self.vocabulary.languages:
            return self._said_in_language(target)
        said = self.vocabulary.target(target or "a")  # the letter shows what stands around a text
        body = [i for i, token in enumerate(said) if not token.special or token.start < token.end]
        if not body and target:
            return self._said("")  # nothing but spaces
        first, end = (body[0], body[-1] + 1) if body else (0, 0)
        named = getattr(self.network.config, "decoder_start_token_id", None) is not None
        start = self.start if named or end == len(said) else said[-1].id
        said = said[:end] if target else said[:first]
        return said if [token.id for token in said[:1]] == [start] else [self._special(start), *said]

    def _said_in_language(self, target: str) -> list[Token]:
        languages, config = self.vocabulary.languages.values(), self.network.config
        said = self.vocabulary.target(target)
        added = [token.id for token in said if token.special and token.start == token.end]
        first = [id for id in added if id in languages][:1]
        if getattr(config, "decoder_start_token_id", None) is not None and not (first and self.start in languages):
            first = [self.start, *first]
        body = [token for token in said if not token.special or token.start < token.end]
        return [*map(self._special, first or [self.start]), *body]

    def _special(self, id: int) -> Token:
        return Token(id, self.vocabulary.text(id)[0], 0, 0, special=True)

    def _fitting(self, tokens: list[Token], text: str) -> tuple[list[Token], int]:
        """What fits in the context: tokens are left out after the special ones at the beginning. And how many characters were."""
        room = self.room
        if room is None or len(tokens) <= room:
            return tokens, 0
        front = next((i for i, token in enumerate(tokens) if not (token.special and token.start == token.end)), 0)
        front = min(front, room - 1)
        tokens = [*tokens[:front], *tokens[front + len(tokens) - room :]]
        left = tokens[front]
        return tokens, left.start if left.segment == 0 else len(text)

    # How it is read

    def _encode(self, tokens: list[Token]) -> tuple[list[Call], np.ndarray]:
        calls, hidden, _ = self._run(self.network.base_model, **self._inputs([tokens], []))
        return calls["self"], hidden["self"]

    def _decode(self, ids: Ids, stamp: Stamp | None) -> tuple[list[Call], np.ndarray, dict[int, np.ndarray]]:
        """Run the tokens that no remembered trace begins with, and join them to what it knows."""
        before, shared = self._recent.longest_shared(stamp, ids) if self._reusable else (None, 0)
        if before is None:
            all_calls, streams, _ = self._run(self.network.base_model, input_ids=self._ids(ids), use_cache=False)
            return all_calls["self"], streams["self"], {}
        attention = before.attention["self"]
        calls, hidden = first(attention._calls, shared), before.hidden["self"][:, :shared]
        known = attention.beginning(shared)
        if shared < len(ids):
            new, stream, _ = self._run(
                self.network.base_model,
                input_ids=self._ids(ids[shared:]),
                past_key_values=cache(calls),
                use_cache=True,
                past=shared,
            )
            calls, hidden = joined(calls, new["self"]), np.concatenate([hidden, stream["self"]], axis=1)
        return calls, hidden, known

    def _source_and_target(self, text: str, target: str) -> tuple[list[Token], int, list[Token]]:
        """The tokens of both that fit, and how many characters of the source do not."""
        tokens = tokens_at_end(self.vocabulary.tokens, text, self.room) or [self._special(self.start)]
        tokens, cut = self._fitting(tokens, text)
        if self.labels is not None:  # a classifier's decoder reads the text, whatever stands in the place of an answer
            start = self._special(read_by_decoder(self.network, [0])[0])
            return tokens, cut, [start, *tokens[:-1]]
        said, _ = self._fitting(tokens_at_end(self._said, target, self.room), target)
        return tokens, cut, said

    def _read_both(self, text: str, target: str, stamp: Stamp | None) -> Trace:
        tokens, cut, said = self._source_and_target(text, target)
        known, calls, streams, _ = self._run_both(tokens, [token.id for token in said], stamp, use_cache=False)
        attention = {
            "encoder": known.attention.between(tokens, tokens),
            "decoder": Attention(said, said, calls["decoder"]),
            "cross": Attention(said, tokens, calls["cross"], chooses=self.labels is None),
        }
        hidden = {"encoder": known.hidden, "decoder": streams["decoder"]}
        words = self._unembed if self.predicts else None
        return Trace(text, tokens, attention, hidden, cut, words, said, self._tail, label=self._label)

    def _run_both(
        self, tokens: list[Token], said: Sequence[int], stamp: Stamp | None, use_cache: bool
    ) -> tuple[Encoded, dict[str, list[Call]], dict[str, np.ndarray], Answer]:
        """A source that may be remembered, and what the decoder has said: what the encoder made of it, then as `_run`."""
        ids = tuple(token.id for token in tokens)
        known: Encoded | None = self._recent.get(stamp, ids)
        inputs: Inputs = {"input_ids": self._ids(ids), "decoder_input_ids": self._ids(said), "use_cache": use_cache}
        if known is not None:
            inputs["encoder_outputs"] = BaseModelOutput(last_hidden_state=known.out)
        calls, hidden, out = self._run(self.network, **inputs)
        if known is None:
            known = Encoded(Attention(tokens, tokens, calls["encoder"]), hidden["encoder"], out.encoder_last_hidden_state)
            self._recent.keep(stamp, ids, known)
        return known, calls, hidden, out

    def _run(
        self, network: nn.Module, past: int = 0, **inputs: Unpack[Inputs]
    ) -> tuple[dict[str, list[Call]], dict[str, np.ndarray], Answer]:
        """One forward pass: the calls by kind, the stream of each stack [layers + 1, position, d_model], and what came out.

        Errors: ValueError for a token that the network has no vector for.
        """
        with torch.inference_mode():
            record, out = self._pass(network, recording(), past, **inputs)
        encoded = "encoder_outputs" in inputs
        calls = self._layout.split(record, without="encoder" if encoded else None)
        hidden = {stack: torch.stack(self._layout.hidden(record, stack)).float().cpu().numpy() for stack in record.hidden}
        return calls, hidden, out

    def _pass(
        self, network: nn.Module, recorder: AbstractContextManager[Record], past: int = 0, **inputs: Unpack[Inputs]
    ) -> tuple[Record, Answer]:
        """One forward pass in the mode of the caller: what was recorded, and what came out."""
        for ids in (inputs["input_ids"], inputs.get("decoder_input_ids")):
            if ids is not None and self._rows and int(ids.max()) >= self._rows:
                shown = quoted(self.token_text(int(ids.max())))
                raise ValueError(f"{self.info.name} has no vector for {shown}, which its tokenizer knows. Leave it out.")
        batch, count = inputs["input_ids"].shape
        inputs["attention_mask"] = torch.ones(batch, past + count, dtype=torch.long, device=self.network.device)
        tap = SoftmaxTap(self._tap, batch) if self._tap else nullcontext()
        with recorder as record, tap:
            return record, network(**inputs, return_dict=True)

    def _inputs(self, texts: Sequence[Sequence[Token]], said: Sequence[Sequence[int]]) -> Inputs:
        """What the network is given of texts, and of what its decoder has said to each, all equally long."""
        inputs: Inputs = {"input_ids": torch.tensor([[token.id for token in text] for text in texts], device=self.network.device)}
        if self._typed:
            inputs["token_type_ids"] = torch.tensor(list(map(self.vocabulary.types, texts)), device=self.network.device)
        if any(said):
            inputs["decoder_input_ids"] = torch.tensor(said, device=self.network.device)
        return self._uncached(inputs)

    def _uncached(self, inputs: Inputs) -> Inputs:
        """The inputs, with no keys and values kept; an encoder is not asked."""
        if self.kind != "encoder":
            inputs["use_cache"] = False
        return inputs

    def _ids(self, ids: Sequence[int]) -> Tensor:
        return torch.tensor([ids], device=self.network.device)

    def _unembed(self, hidden: np.ndarray) -> np.ndarray:
        """The model's own way from the stream after the last layer [..., d_model] to logits [..., vocabulary], row by row."""
        rows = self._numbers(hidden).reshape(-1, hidden.shape[-1])
        at_once = max(1, min(ROWS // self.vocabulary.size, self._positions or len(rows)))
        with torch.inference_mode():
            found = [self._logits(part, self._each).float().cpu().numpy() for part in rows.split(at_once)]
        return np.concatenate(found).reshape(*hidden.shape[:-1], -1)

    def _logits(self, rows: Tensor, but: frozenset[int] = frozenset()) -> Tensor:
        """Rows of the stream after the last layer [row, d_model] as logits [row, vocabulary]. but: layers still to be run.

        What gives a text a label reads one row of each text: so each row is a text of its own there.
        """
        if self._labels_text:
            with layout.skipping(rows[:, None], but):
                return self.network(**self._uncached({"input_ids": self._ids([0] * len(rows)).T}), return_dict=True).logits
        with layout.skipping(rows[None], but):
            return self.network(**self._blank(rows), return_dict=True).logits[0]

    def _pooled(self, streams: Tensor) -> Tensor:
        """What a head that makes its labels of whole texts makes of their streams after the last layer [text, position, d_model]:
        [text, label], in the gradient mode of the caller."""
        rows = streams.to(self.network.device, self.network.dtype)
        ids = torch.zeros(rows.shape[:2], dtype=torch.long, device=rows.device)
        if getattr(self.config, "pad_token_id", None) == 0:
            ids += 1  # what fills a batch up would be passed over
        with layout.skipping(rows):
            return self.network(
                **self._uncached({"input_ids": ids, "attention_mask": torch.ones_like(ids)}), return_dict=True
            ).logits

    def _pool(self, stream: np.ndarray) -> np.ndarray:
        """The same of one text [position, d_model], at each of its positions alike: float32 [position, label]."""
        with torch.inference_mode():
            found = self._pooled(self._numbers(stream)[None]).float().cpu().numpy()
        return np.broadcast_to(found, (len(stream), found.shape[-1]))

    def _run_tail(self, stream: np.ndarray) -> np.ndarray:
        """What the layers after the last block make of the stream of a whole text [position, d_model]: the same shape."""
        rows = self._numbers(stream)
        stack = "decoder" if self.kind == "encoder-decoder" else "self"
        but = frozenset(map(id, self._layout.tail(stack)))
        network = self.network if stack == "decoder" else self.network.base_model
        with torch.inference_mode(), recording() as record, layout.skipping(rows[None], but):
            network(**self._blank(rows), return_dict=True)
        return record.hidden[stack][-1].float().cpu().numpy()

    def _blank(self, rows: Tensor) -> Inputs:
        """What the network is given besides rows [row, d_model] that take the place of what it would make of it."""
        inputs: Inputs = {"input_ids": self._ids([0] * len(rows)), "attention_mask": self._ids([1] * len(rows))}
        if self.kind == "encoder-decoder":
            inputs["decoder_input_ids"] = inputs.pop("input_ids")
            inputs["attention_mask"] = self._ids([1])
            inputs["encoder_outputs"] = BaseModelOutput(last_hidden_state=rows.new_zeros(1, 1, rows.shape[-1]))
        return self._uncached(inputs)

    # What is found out once

    def _ready(self) -> None:
        """Find the layout, through the attention interface or else by listening to the softmax, and check what rests on it."""
        pairs = self.kind == "encoder-decoder"
        self._typed = self.kind == "encoder" and self._takes_types()
        self._positions = _positions(self.network)
        try:
            embedding = self.network.get_input_embeddings()
        except NotImplementedError as error:
            raise ModelError(
                f"{type(self.network).__name__} has no table with a vector for each token. {layout.CHOOSE}"
            ) from error
        self._rows = getattr(embedding, "num_embeddings", None)
        if full := quirks.read_fully(self.network):
            self._full = full
            self._notes.append(FULL.format(full))
        probe = self._probe(layout.SOURCE, layout.TARGET)

        def run() -> Answer:
            with torch.inference_mode():
                return self.network(**probe, return_dict=True)

        _attend_by(self.network, NAME)
        with recording() as record:
            run()
        if not record.calls:
            _attend_by(self.network, "eager")
            self._tap = getattr(self.config, "num_attention_heads", None)
        tap = SoftmaxTap(self._tap) if self._tap else nullcontext()
        with tap:
            self._layout = layout.find(self.network, run, pairs)
        self._stream = layout.Stream(self._layout)
        self._stream.install()
        self._outputs = Outputs(self._layout)
        self._reads = Reads(self._layout, self.config.hidden_size)
        watching = self._outputs.watching, self._reads.watching
        with recording() as record, tap, watching[0](self.network, record), watching[1](self.network, record):
            run()
        self._kept = _numbers_kept(self._layout.split(record), self.config)
        self._keeps = "logits_to_keep" in inspect.signature(self.network.forward).parameters
        checks = Checks(self.network, self._layout, self._tap)
        limits = (self._positions, self._full, getattr(self.config, "max_position_embeddings", None))
        length = min([LONG, *(limit for limit in limits if limit and limit > 0)])
        if self.kind == "decoder" and checks.looks_ahead(self._probe(layout.SOURCE)):
            self.kind, self.predicts, self.mask = "encoder", False, self.vocabulary.mask
            self._notes.append(BOTH_WAYS)
        for source, target in ((layout.SOURCE, layout.TARGET), (length, length // 2)):
            noted, logits = checks.agrees(self._probe(source, target))
            if self._labels_text:
                assert logits is not None, "a classifier has them"
                self._find_labels(noted, logits)
            elif self.predicts or self.labels:
                assert logits is not None, "a model that predicts has them"
                self._check_way_out(noted, logits)
            if self.labels is not None and pairs and not agrees(self.network, range(3, 3 + source // 2), checks.close):
                self.labels = None
                self._notes.append(POOLED)
        self._reusable = (
            self.kind == "decoder" and not self._tap and not self._layout.others and checks.rereads(self._probe(length))
        )

    def _takes_types(self) -> bool:
        """Whether transformers would give the network the token types of its tokenizer, and it has a vector for each."""
        types, most = self.vocabulary.known_types, getattr(self.config, "type_vocab_size", None)
        takes = all(
            "token_type_ids" in inspect.signature(one.forward).parameters for one in (self.network, self.network.base_model)
        )
        return types is not None and takes and (most is None or max(types.values()) < most)

    def _probe(self, source: int, target: int = 0) -> Inputs:
        """Inputs of so many tokens, all different as far as there are so many."""
        ids = [3 + i % min(self._rows - 3 if self._rows else 97, 97) for i in range(max(source, target))]
        inputs: Inputs = {"input_ids": self._ids(ids[:source])}
        if self.kind == "encoder-decoder":
            inputs["decoder_input_ids"] = self._ids(ids[:target])
        return self._uncached(inputs)

    def _find_labels(self, noted: Tensor, logits: Tensor) -> None:
        """At which row of the stream the labels of a text are read, or whether they are made of all rows at once; none are shown
        where it is neither.

        noted: as below; logits [label].
        """
        assert self.labels, "it has labels"
        its, close = logits.float().cpu().numpy(), 1e-3 if self.network.dtype == torch.float32 else 5e-2
        stream = noted.float().cpu().numpy()

        def agrees(found: np.ndarray) -> bool:
            apart = np.abs(found - its).max() <= close * max(1e-6, float(np.abs(its).max()))
            return bool(apart) and not self._layout.tail("self")

        for at in () if self.labels.pooled else (0, -1) if self.labels.first else (-1, 0):
            if agrees(self._unembed(stream[[at]])[0]):
                self.labels = replace(self.labels, first=at == 0)
                return
        if agrees(self._pool(stream)[0]):
            self.labels, self._tail = replace(self.labels, first=self.kind == "encoder", pooled=True), self._pool
            return
        self.labels, self._tail = None, None
        self._notes.append(POOLED)

    def _check_way_out(self, noted: Tensor, logits: Tensor) -> None:
        """Whether logits follow from the stream after the last block, row by row or after the layers that come behind it.

        noted: that stream [position, d_model]. Errors: ModelError when they do not.
        """
        stream, its = noted.float().cpu().numpy(), logits.float().cpu().numpy()
        exact = self.network.dtype == torch.float32
        rows = sorted({0, len(its) // 2, len(its) - 1})
        behind = self._layout.tail("decoder" if self.kind == "encoder-decoder" else "self")

        def apart(stream: np.ndarray) -> float:
            found = [(self._unembed(stream), its), (self._unembed(stream[::-1]), its[::-1])]
            found += [(self._unembed(stream[row]), its[row]) for row in rows]
            return max(float(np.abs(a - b).max()) for a, b in found) / max(1e-6, float(np.abs(its).max()))

        if behind:  # read row by row only where that is proven right
            self._each, self._tail = frozenset(map(id, behind)), None
            if not exact or apart(stream) > 1e-5:
                self._each, self._tail = frozenset(), self._run_tail
                stream = self._tail(stream)
        if apart(stream) > (1e-3 if exact else 5e-2):
            raise ModelError(
                f"The predictions of {type(self.network).__name__} do not follow from its last layer alone, "
                f"so Headlight cannot show them truly. {layout.CHOOSE}"
            )

    def _facts(self, name: str, source: str) -> ModelInfo:
        config, stacks = self.config, self._layout.blocks
        notes = self._notes
        counts = next(self._layout.counts[kind] for kind in ("self", "encoder") if kind in self._layout.counts)
        heads = max(counts)
        if self._tap:
            notes.append(
                f"{type(self.network).__name__} computes attention in its own way: "
                "its weights can be seen, its queries, keys and values cannot."
            )
        if min(counts) < heads:
            notes.append(f"Its layers have {min(counts)} to {heads} heads; what a layer has not is left blank.")
        if self._layout.others:
            notes.append(f"{self._layout.others} of its layers have no attention; those that have are numbered from 0.")
        numbers = self._layout.numbers("encoder" if "encoder" in stacks else "self")
        if self.labels is not None and self.kind == "encoder-decoder":
            notes.append(FIRST)
        first_stack = stacks.get("encoder") or stacks["self"]
        return ModelInfo(
            name=name,
            kind=self.kind,
            layers=len(first_stack),
            heads=heads,
            kv_heads=getattr(config, "num_key_value_heads", None) or heads,
            d_model=config.hidden_size,
            vocabulary=self.vocabulary.size,
            context=self._context(),
            parameters=sum(one.numel() for one in self.network.parameters()),
            source=source,
            decoder_layers=len(stacks.get("decoder", ())),
            decoder_heads=max(self._layout.counts.get("decoder", (0,))),
            head_counts=counts if min(counts) < heads else (),
            layer_numbers=numbers,
            predicts=self.predicts,
            queries=not self._tap,
            pairs=self.kind == "encoder" and self.vocabulary.pairs,
            mask=self.mask,
            dtype=str(self.network.dtype).removeprefix("torch."),
            notes=tuple(notes),
            labels=self.labels,
            languages=tuple(self.vocabulary.languages) if self.kind == "encoder-decoder" and not self.labels else (),
        )

    def _context(self) -> int | None:
        """The longest input in tokens: what the positions allow, or what the tokenizer names; None when neither does."""
        named = getattr(self.vocabulary.tokenizer, "model_max_length", None)
        limits = [
            self._positions,
            self._full,
            getattr(self.config, "max_position_embeddings", None),
            named if named and named < 10**6 else None,
        ]
        return min((limit for limit in limits if limit and limit > 0), default=None)


def _numbers_kept(calls: dict[str, list[Call]], config: PreTrainedConfig) -> dict[str, int]:
    """How many numbers of keys and values are kept for each token, by kind of attention."""
    found = {}
    for kind, layers in calls.items():
        halves = [half for call in layers for half in (call.key, call.value) if half is not None]
        found[kind] = sum(half.shape[0] * half.shape[-1] for half in halves)
        found[kind] = found[kind] or 2 * len(layers) * config.hidden_size  # of a model that shows its weights alone
    return found


def _attend_by(network: PreTrainedModel, implementation: str) -> None:
    try:
        network.set_attn_implementation(implementation)
    except (ValueError, ImportError):
        network.set_attn_implementation("eager")


def _start(config: PreTrainedConfig, tokenizer: PreTrainedTokenizerBase) -> int:
    """The token that stands before the first one: the decoder's start, or the beginning or end of text."""
    choices = (
        getattr(config, "decoder_start_token_id", None),
        tokenizer.bos_token_id,
        tokenizer.eos_token_id,
        tokenizer.pad_token_id,
    )
    return next((id for id in choices if id is not None), 0)


def _positions(network: nn.Module) -> int | None:
    """How many positions the learned position tables hold; RoBERTa's begin after the padding index. None without a table."""
    found = []
    for name, module in network.named_modules():
        if isinstance(module, nn.Embedding) and name.rpartition(".")[2] in ("position_embeddings", "embed_positions", "wpe"):
            padding = -1 if module.padding_idx is None else module.padding_idx
            found.append(module.num_embeddings - padding - 1 - getattr(module, "offset", 0))
    return min(found, default=None)
