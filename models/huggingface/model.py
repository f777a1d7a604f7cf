"""A network of transformers with its tokenizer, as a LanguageModel: text in, Trace out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from models.attention.recorder import Record, recording
from models.attention.side_by_side import Part, ReadPart
from models.attention.undo_rotary import Rotary
from models.class_labels import Labels
from models.editing.batches import alone, of_trace, plan_of
from models.editing.plan import Plan
from models.editing.set_weights import set_weights
from models.editing.shuffle import shuffle
from models.files.weights_digest import WeightsFile
from models.generation.generate import Reader
from models.gradients.attention import Gradients, gradients
from models.huggingface.chat import as_chat, has_chat_template
from models.huggingface.facts import facts_of
from models.huggingface.following import follow
from models.huggingface.model_texts import ModelTexts
from models.huggingface.names import short
from models.huggingface.reader import GrowingModel, Growth, HuggingFaceReader, measure_growth
from models.huggingface.text import TextTokens
from models.huggingface.turns import find_rotaries
from models.huggingface.two_stacks import label_position
from models.huggingface.watch import watch_block
from models.language_model import LanguageModel, check_plain, check_text
from models.numbers.readonly import array_of
from models.reading.prefix import Stamp
from models.reading.readable import Ready
from models.reading.requests import Request, Trial
from models.reading.together import read_alone, request_for, tried
from models.tokens import Token, Turn, one_each
from models.trace import Attention, Trace
from models.watching.steps import Watched
from models.watching.watcher import Private

SPELT = 8  # tokens of the text before that are spelt beside new ones


class HuggingFaceModel(LanguageModel, GrowingModel):
    """Any text model of transformers. Safe to share between threads.

    kind: "decoder" | "encoder" | "encoder-decoder"; predicts: whether it has a language-model head; labels: of a classifier.
    followed: the network with its hooks; way: from its stream to logits or labels; texts: its texts as tokens.
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
        _set_target_language(self.vocabulary, network)
        self.bytes = sum(parameter.numel() * parameter.element_size() for parameter in network.parameters())
        self.followed, self.way, new_notes = follow(network, self.vocabulary, kind, predicts, labels, name)
        self.kind, self.predicts, self.labels = self.followed.kind, self.way.predicts, self.way.labels
        self.texts = ModelTexts(self.vocabulary, network.config, self.kind, self.labels is not None, name)
        self.info = facts_of(self.followed, self.way, source, [*notes, *new_notes])
        self.recent, self.tail = self.followed.recent, self.way.tail

    def tokenize(self, text: str) -> list[Token]:
        check_text(text)
        return self.texts.tokens(text)

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return id in self.vocabulary.special

    @property
    def device(self) -> str:
        return str(self.network.device)

    @property
    def ids(self) -> int:
        return self.followed.embedding_rows or self.vocabulary.size

    @property
    def reads_on(self) -> bool:
        """Whether it reads on from keys and values as a text grows, which is tried once; else it reads all of it again."""
        return self.followed.reusable or self.growth is not None

    @cached_property
    def growth(self) -> Growth | None:
        return measure_growth(self)

    def cache_bytes(self, length: int, source: int = 0) -> int:
        if not self.reads_on:
            return 0
        if self.kind == "decoder" and not self.followed.reusable:  # as its own cache grew when it was tried
            assert self.growth is not None, "`reads_on` says so"
            return self.growth.fixed + self.growth.each * length
        lengths = {"self": length, "decoder": length, "cross": source}
        numbers = sum(count * lengths.get(kind, 0) for kind, count in self.followed.cached_numbers.items())
        return self.network.dtype.itemsize * numbers

    def spell(self, ids: Sequence[int], after: Sequence[int] = ()) -> str:
        before = list(after[-SPELT:])  # a word begins otherwise at the front of a text
        whole, front = self.vocabulary.decode([*before, *ids]), self.vocabulary.decode(before)
        return whole.removeprefix(front)

    def forget(self, but_for: Callable[[Hashable], bool] | None = None) -> None:
        self.recent.forget(but_for)

    @property
    def chats(self) -> bool:
        return self.kind == "decoder" and self.predicts and has_chat_template(self.vocabulary)

    def as_chat(self, text: str) -> Turn:
        check_text(text)
        return as_chat(self.vocabulary, text) if self.chats else super().as_chat(text)

    def reader(self, text: str, target: str, cache: bool, chat: bool) -> Reader:
        if chat:
            tokens, cut = self.texts.fit(list(self.as_chat(text).tokens), text, self.room)
            return HuggingFaceReader(self, tokens, [], cut, cache)
        if self.kind == "encoder-decoder":
            tokens, cut, target_tokens = self.texts.fitting_both(text, target, self.room)
            return HuggingFaceReader(self, target_tokens, tokens, cut, cache)
        tokens, cut = self.texts.fitting_end(text, self.room)
        return HuggingFaceReader(self, tokens, [], cut, cache)

    def _read(self, text: str, target: str, remember: bool) -> Trace:
        if self.kind == "encoder-decoder":
            return self._read_both(text, target, self.recent.now(remember))
        tokens, cut = self.texts.fitting(text, target, self.room)
        return self.trace_tokens(text, tokens, cut, self.recent.now(remember))

    def trace_tokens(self, text: str, tokens: list[Token], cut: int, stamp: Stamp | None) -> Trace:
        """Return the trace of the tokens of a text, whose stack is one, read or from memory. cut: as `Trace.cut`."""
        if self.kind == "decoder":
            return read_alone(self, request_for(self, text, tokens, cut, stamp if self.followed.reusable else None))
        calls, hidden = self.followed.encode(tokens)
        attention = {"self": Attention(tokens, tokens, calls, **self.attention_options("self"))}
        words = self.unembed if self.predicts else None
        return Trace(text, tokens, attention, {"self": hidden}, cut, words, tail=self.tail, label=self.label)

    def request(self, text: str, target: str = "", remember: bool = True) -> Request:
        if self.kind != "decoder":
            return super().request(text, target, remember)
        tokens, cut = self.texts.fitting(text, target, self.room)
        return request_for(self, text, tokens, cut, self.recent.now(remember and self.followed.reusable))

    @cached_property
    def trial(self) -> Trial:
        return tried(self) if self.followed.reusable else Trial()

    def read_parts(self, parts: Sequence[Part]) -> list[ReadPart]:
        return self.followed.decode(parts)

    def _read_both(self, text: str, target: str, stamp: Stamp | None) -> Trace:
        tokens, cut, target_tokens = self.texts.fitting_both(text, target, self.room)
        ids = [token.id for token in target_tokens]
        encoded, calls, streams, _ = self.followed.run_both(tokens, ids, stamp, use_cache=False)
        attention = {
            "encoder": encoded.attention.between(tokens, tokens),
            "decoder": Attention(target_tokens, target_tokens, calls["decoder"]),
            "cross": Attention(target_tokens, tokens, calls["cross"], chooses=self.labels is None),
        }
        hidden = {"encoder": encoded.hidden, "decoder": streams["decoder"]}
        words = self.unembed if self.predicts else None
        return Trace(text, tokens, attention, hidden, cut, words, target_tokens, self.tail, label=self.label)

    @property
    def shares_layers(self) -> bool:
        return any(len(set(map(id, layers))) < len(layers) for layers in self.followed.layout.layers.values())

    # What edits need

    def prepare(self, text: str, target: str) -> Ready:
        if self.kind == "encoder-decoder":
            tokens, cut, target_tokens = self.texts.fitting_both(text, target, self.room)
            return Ready(text, tokens, target_tokens, cut)
        tokens, cut = self.texts.fitting(text, target, self.room)
        return Ready(text, tokens, [], cut)

    @cached_property
    def pass_order(self) -> tuple[list[tuple[str, int]], dict[str, list[int]]]:
        return self.followed.layout.order, self.followed.layout.places

    def run_plan(
        self,
        texts: Sequence[Sequence[Token]],
        targets: Sequence[Sequence[Token]],
        plan: Plan,
        outs: bool = False,
        stream: Tensor | None = None,
    ) -> Record:
        decoder_ids = [[token.id for token in tokens] for tokens in targets]
        return self.followed.run_edited(texts, decoder_ids, plan.running(outs), plan.first, stream)

    def attention_options(self, kind: str) -> dict[str, Any]:
        layout = self.followed.layout
        numbers = {"numbers": layout.numbers(kind)} if kind in layout.blocks else {}
        return numbers | ({"rotary": self._rotary} if kind == "self" else {})

    def gradients(self, trace: Trace, position: int, token: int) -> dict[str, Gradients]:
        self._must_predict()
        if not -len(trace.read) <= position < len(trace.read):
            raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
        position %= len(trace.read)
        followed = self.followed
        inputs = followed.inputs([trace.tokens], [[token.id for token in trace.target]])
        network = self.network if trace.target else followed.base
        with torch.enable_grad():
            if trace.edits:
                record = alone(self.run_plan([trace.tokens], [trace.target], plan_of(self, [of_trace(trace)]), outs=True))
            else:
                record, _ = followed.forward(network, recording(outs=True), **inputs)
            stream = record.hidden["decoder" if trace.target else "self"][-1]
            if self.labels is not None and self.labels.pooled:
                logits = self.way.pooled(stream[None])[0]
            else:  # all layers have run, those behind the last block too
                logits = self.way.logits(stream[position : position + 1].to(self.network.dtype))[0]
            split = followed.layout.split
            return gradients(logits[token], split(record), split(record, of=record.outs))

    def logits_of(
        self,
        texts: Sequence[Sequence[Token]],
        position: int = -1,
        target: Sequence[Token] | Sequence[Sequence[Token]] = (),
    ) -> np.ndarray:
        self._must_predict()
        return self.way.logits_of(texts, one_each(target, len(texts)), position)

    def watch(self, trace: Trace, stack: str, layer: int, positions: Sequence[int]) -> Watched:
        check_plain(trace)
        return watch_block(self.followed, self.way, self.watched_copy(), trace, stack, layer, positions)

    def copy_to_watch(self, number: int | None) -> Private:
        return self.followed.copy(number)

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

    def copy_network(self) -> PreTrainedModel:
        return self.followed.bare()[0]

    def with_weights(self, weights: Mapping[str, Tensor], name: str = "", source: str = "") -> HuggingFaceModel:
        network = self.copy_network()
        set_weights(network, weights)
        names = name or self.info.name, source or self.info.source
        other = HuggingFaceModel(
            network, self.vocabulary.tokenizer, self.kind, self.predicts, *names, labels=self.labels, revision=self.revision
        )
        other.at_most, other.vocabulary.target_language = self.at_most, self.vocabulary.target_language
        return other

    def save(self, folder: Path) -> None:
        self.copy_network().save_pretrained(str(folder))
        self.vocabulary.tokenizer.save_pretrained(str(folder))

    def output_weights(self, kind: str, layer: int) -> np.ndarray:
        return self.followed.output_maps.weights(kind, layer)

    def query_weights(self, kind: str, layer: int) -> np.ndarray:
        return self.followed.input_maps.weights("query", kind, layer)

    def key_weights(self, kind: str, layer: int) -> np.ndarray:
        return self.followed.input_maps.weights("key", kind, layer)

    def value_weights(self, kind: str, layer: int) -> np.ndarray:
        return self.followed.input_maps.weights("value", kind, layer)

    def normed(self, kind: str) -> bool:
        return self.followed.input_maps.normed(kind)

    def way_out(self, rows: Tensor) -> Tensor:
        self._must_predict()
        rows = rows.to(self.network.device, self.network.dtype)
        parts = rows.split(self.followed.positions or len(rows))
        return torch.cat([self.way.logits(part, self.way.row_layers) for part in parts]).to(rows.device)

    def answers_at(self, streams: Tensor, position: int) -> Tensor:
        pooled = self.labels is not None and self.labels.pooled
        return self.way.pooled(streams) if pooled else super().answers_at(streams, position)

    @property
    def cap(self) -> float | None:
        return self.way.cap

    def way_out_formula(self, stream: str = "h") -> str:
        self._must_predict()
        return self.way.formula.format(stream=stream)

    def unembedding(self) -> np.ndarray:
        last: Any = self.network.get_output_embeddings() if self.predicts else None
        if last is None or "t(" in self.way.formula or last.weight.shape[1] != self.info.d_model:
            return super().unembedding()
        return array_of(last.weight)

    @property
    def embedding_tables(self) -> list[Tensor]:
        both = self.kind == "encoder-decoder"
        stacks = [self.network.get_encoder(), self.network.get_decoder()] if both else [self.network]
        return [cast(nn.Embedding, stack.get_input_embeddings()).weight for stack in stacks]

    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        table = cast(nn.Embedding, self.network.get_input_embeddings())
        return array_of(table.weight[ids])

    def _rotary(self, layer: int) -> Rotary | None:
        return self._rotaries[layer]

    @cached_property
    def _rotaries(self) -> list[Rotary | None]:
        followed = self.followed
        word = next((token.id for token in self.texts.tokens("the") if not token.special), 0)
        return find_rotaries(
            self.network, lambda count: followed.run(followed.base, input_ids=followed.ids([word] * count))[0]["self"]
        )

    def unembed(self, hidden: np.ndarray) -> np.ndarray:
        return self.way.unembed(hidden)

    @property
    def label(self) -> Callable[[np.ndarray], np.ndarray] | None:
        return self.way.label

    def places(self, trace: Trace) -> list[int]:
        if self.labels is not None and self.kind == "encoder-decoder":
            return [label_position(self.network, [token.id for token in trace.tokens])]
        positions = super().places(trace)
        if self.way.labels_text and positions != [0]:  # padding is left out, as transformers does
            padding = self.followed.config.pad_token_id
            positions = [max((i for i, token in enumerate(trace.tokens) if token.id != padding), default=0)]
        return positions

    def _must_predict(self) -> None:
        if not (self.predicts or self.labels):
            raise ValueError(f"{self.info.name} has no language-model head, so it makes no predictions.")


def _set_target_language(vocabulary: TextTokens, network: PreTrainedModel) -> None:
    """Let a translator write the language that its generation config forces, unless its tokenizer names one."""
    forced = getattr(getattr(network, "generation_config", None), "forced_bos_token_id", None)
    if not vocabulary.target_language:
        codes = {id: code for code, id in vocabulary.languages.items()}
        vocabulary.target_language = codes.get(forced, "") if isinstance(forced, int) else ""
