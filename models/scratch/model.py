"""The base class of the from-scratch transformers of all three kinds as a LanguageModel."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from models.attention.recorder import Record, note_hidden, recording
from models.attention.undo_rotary import Rotary
from models.class_labels import Labels
from models.editing.batches import alone, of_trace, plan_of
from models.editing.plan import Plan
from models.editing.set_weights import set_weights
from models.editing.shuffle import shuffle
from models.generation.generate import Reader
from models.gradients.attention import Gradients, gradients
from models.info import ModelInfo
from models.language_model import LanguageModel, check_plain, check_text
from models.numbers.precision import name_of, note
from models.numbers.readonly import array_of
from models.reading.inputs import tokens_at_end
from models.reading.prefix import Encoded, Recent, Stamp
from models.reading.readable import Ready
from models.scratch import positions
from models.scratch.reader import CacheableModel, ScratchReader
from models.scratch.signs import END, MASK, START
from models.scratch.transformer import Decoder, Encoder, EncoderDecoder, MultiHeadAttention, Stack
from models.scratch.write_weights import write_weights
from models.tokens import ByteLevelTokens, Token, one_each
from models.trace import Trace
from models.watching.steps import Watched
from models.watching.watcher import Private, hook, private, watch_rows


class ScratchModel(LanguageModel, CacheableModel):
    """A transformer of our own with its tokenizer. Safe to share between threads."""

    vocabulary: ByteLevelTokens

    def __init__(self, network: Decoder | Encoder | EncoderDecoder, tokenizer: Tokenizer | None, name: str, source: str):
        self.network = network.eval().requires_grad_(False)
        self.vocabulary = self.make_vocabulary(tokenizer)
        config = network.config
        both = config.kind == "encoder-decoder"
        dtype = name_of(next(network.parameters()).dtype)
        labels = Labels(config.labels) if config.labels else None
        self.info = ModelInfo(
            name=name,
            kind=config.kind,
            layers=config.layers,
            heads=config.heads,
            kv_heads=config.key_heads,
            d_model=config.d_model,
            vocabulary=0 if config.image else config.vocabulary,
            context=config.context,
            parameters=sum(p.numel() for p in network.parameters()),
            source=source,
            dtype=dtype,
            notes=note(dtype),
            decoder_layers=config.layers if both else 0,
            decoder_heads=config.heads if both else 0,
            predicts=labels is None,
            mask=MASK if config.kind == "encoder" and labels is None else "",
            labels=labels,
            reads=("image",) if config.image else ("text",),
        )
        self.recent = Recent(self.network)

    def make_vocabulary(self, tokenizer: Any) -> Any:
        """Return the vocabulary. tokenizer: of texts; None for a model of images, which has a vocabulary of its own."""
        return ByteLevelTokens(tokenizer, START, END, MASK)

    @property
    def room(self) -> int:
        room = super().room
        assert room is not None, "a transformer of our own has a context"
        return room

    def tokenize(self, text: str) -> list[Token]:
        check_text(text)
        return self.vocabulary.tokens(text)

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return id in self.vocabulary.special

    @property
    def device(self) -> str:
        return str(self.stack.embedding.weight.device)

    def cache_bytes(self, length: int, source: int = 0) -> int:
        config = self.network.config
        bytes_per_token = 2 * config.layers * config.key_heads * config.d_head * self.stack.embedding.weight.element_size()
        return 0 if config.kind == "encoder" else bytes_per_token * (length + source)

    def spell(self, ids: Sequence[int], after: Sequence[int] = ()) -> str:
        return self.vocabulary.tokenizer.decode([id for id in ids if not self.is_special(id)])

    def forget(self, but_for: Callable[[Hashable], bool] | None = None) -> None:
        self.recent.forget(but_for)

    def _read(self, text: str, target: str, remember: bool) -> Trace:
        tokens, cut = self.tokens_to_read(text, target)
        return self.trace_tokens(text, tokens, cut, target, self.recent.now(remember))

    def gradients(self, trace: Trace, position: int, token: int) -> dict[str, Gradients]:
        if not -len(trace.read) <= position < len(trace.read):
            raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
        with torch.enable_grad():
            if trace.edits:
                record = self.run_plan([trace.tokens], [trace.target], plan_of(self, [of_trace(trace)]), outs=True)
                record = alone(record)
                stream = record.hidden["decoder" if trace.target else "self"][-1][None]
            else:
                with recording(outs=True) as record:
                    stream = self._stream(self.batch_ids([trace.tokens]), self.batch_ids([trace.target]))
            logits = self.network.unembed(stream[0, position])
            return gradients(logits[token], self._by_kind(record.calls), self._by_kind(record.outs or []))

    def logits_of(
        self,
        texts: Sequence[Sequence[Token]],
        position: int = -1,
        target: Sequence[Token] | Sequence[Sequence[Token]] = (),
    ) -> np.ndarray:
        with torch.inference_mode():
            stream = self._stream(self.batch_ids(texts), self.batch_ids(one_each(target, len(texts))))
            return self.network.unembed(stream[:, position]).float().cpu().numpy()

    def watch(self, trace: Trace, stack: str, layer: int, positions: Sequence[int]) -> Watched:
        check_plain(trace)
        copy_to_watch = self.watched_copy()
        network = copy_to_watch.network
        of = network if stack == "self" else network.encoder if stack == "encoder" else network.decoder
        with torch.inference_mode():
            read = self.batch_ids([trace.target if stack == "decoder" else trace.tokens])
            memory = self.encoded(trace.tokens, self.recent.now()).out if stack == "decoder" else None

            def run() -> Tensor:
                if stack == "encoder":
                    return network.encode(read)
                return network.hidden(read) if memory is None else network.hidden(read, memory)

            hidden = trace.hidden.get(stack)
            stream = None if hidden is None else (self.as_tensor(hidden[layer]), self.as_tensor(hidden[layer + 1]))
            with recording():
                watched = copy_to_watch.near(of.blocks, layer, run, stack == "encoder" and bool(positions), stream)
            if stack != "encoder" and positions:
                watched.head = watch_rows(self._rows(trace, positions), network.unembed)
        watched.memory = None if memory is None else memory[0]
        return watched

    def copy_to_watch(self, number: int | None) -> Private:
        (network,) = private(self.network)
        hook(network, [block for module in network.modules() if isinstance(module, Stack) for block in module.blocks])
        return Private(number, network)

    def without_positions(self) -> ScratchModel:
        (network,) = private(self.network)
        network.config = replace(network.config, positions="none")
        for stack in (module for module in network.modules() if isinstance(module, Stack)):
            stack.config = network.config
            stack.positions = positions.NoPositions(network.config, causal=not stack.future)
        bare = type(self)(network, self.vocabulary.tokenizer, self.info.name, self.info.source)
        bare.files, bare.at_most = self.files, self.at_most
        return bare

    def with_random_weights(self, seed: int) -> ScratchModel:
        network = copy.deepcopy(self.network)
        shuffle(network, seed)
        other = type(self)(network, self.vocabulary.tokenizer, self.info.name, self.info.source)
        other.at_most = self.at_most
        return other

    def copy_network(self) -> Decoder | Encoder | EncoderDecoder:
        (network,) = private(self.network)
        return network

    def with_weights(self, weights: Mapping[str, Tensor], name: str = "", source: str = "") -> ScratchModel:
        network = self.copy_network()
        set_weights(network, weights)
        other = type(self)(network, self.vocabulary.tokenizer, name or self.info.name, source or self.info.source)
        other.at_most = self.at_most
        return other

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        write_weights(self.network, self.network.config, folder, torch.float32)
        if not self.network.config.image:
            self.vocabulary.tokenizer.save(str(folder / "tokenizer.json"))

    def output_weights(self, kind: str, layer: int) -> np.ndarray:
        output = self._attention(kind, layer).output.weight  # [d_model, heads · d_head]
        return array_of(output.T.unflatten(0, (self.info.heads, -1)))  # [heads, d_head, d_model]

    def query_weights(self, kind: str, layer: int) -> np.ndarray:
        attention = self._attention(kind, layer)
        weights = self._read_by(attention.query, self._gains(attention, "query_norm"))
        if self.network.config.score != "multiplicative":
            return weights
        return weights @ array_of(attention.score.get_parameter("between"))  # after the norm

    def key_weights(self, kind: str, layer: int) -> np.ndarray:
        attention = self._attention(kind, layer)
        return self._read_by(attention.key, self._gains(attention, "key_norm"))

    def value_weights(self, kind: str, layer: int) -> np.ndarray:
        return self._read_by(self._attention(kind, layer).value)

    def normed(self, kind: str) -> bool:
        return self.network.config.qk_norm

    def _gains(self, attention: MultiHeadAttention, norm: str) -> Tensor | None:
        """Return the factors by which the norm of queries or keys scales each number of a head: [d_head]; None without a norm.
        Errors: ValueError where scores are no products of queries and keys."""
        config = self.network.config
        if config.score == "additive" or config.computed != "exact":
            raise ValueError(f"{self.info.name} does not multiply queries with keys, so no matrices say what they match.")
        return getattr(attention, norm).weight if config.qk_norm else None

    def _read_by(self, linear: nn.Linear, gains: Tensor | None = None) -> np.ndarray:
        """Return a linear map into heads, one for each query head, times the gains of a norm: float32 [heads, d_model,
        d_head]."""
        weights = linear.weight.T.unflatten(1, (-1, self.network.config.d_head)).transpose(0, 1)
        weights = weights if gains is None else weights * gains
        return array_of(weights.repeat_interleave(self.info.heads // len(weights), 0))

    def way_out(self, rows: Tensor) -> Tensor:
        return self.network.unembed(rows.to(self.stack.embedding.weight.dtype))

    def way_out_formula(self, stream: str = "h") -> str:
        transform = self.network.config.head_transform
        return f"Wᵁ · t(norm({stream})) + b" if transform else f"Wᵁ · norm({stream})"

    def unembedding(self) -> np.ndarray:
        config = self.network.config
        if config.head_transform or config.labels:
            return super().unembedding()
        stack = self.stack if self.info.kind != "encoder-decoder" else self.network.decoder
        last = stack.embedding if config.tied else stack.unembedding
        return array_of(last.weight)

    @property
    def embedding_tables(self) -> list[Tensor]:
        return [self.stack.embedding.weight]

    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        return array_of(self.stack.embedding.weight[ids])

    def reader(self, text: str, target: str, cache: bool, chat: bool) -> Reader:
        if chat:
            self.as_chat(text)  # says that there is no template
        tokens, cut = self.fitting(self.last_tokens(text, self.tokenize))
        if self.info.kind == "decoder":
            return ScratchReader(self, tokens, [], cut, cache)
        target_tokens, _ = self.fitting(self.last_tokens(target, self.vocabulary.tokens))
        return ScratchReader(self, target_tokens, tokens, cut, cache)

    # What edits need

    def prepare(self, text: str, target: str) -> Ready:
        tokens, cut = self.tokens_to_read(text, target)
        both = self.info.kind == "encoder-decoder"
        target_tokens = self.fitting(self.last_tokens(target, self.vocabulary.tokens))[0] if both else []
        return Ready(text, tokens, target_tokens, cut)

    @property
    def pass_order(self) -> tuple[list[tuple[str, int]], dict[str, list[int]]]:
        layers = range(self.info.layers)
        places = [0, *(layer + 1 for layer in layers)]
        if self.info.kind != "encoder-decoder":
            return [("self", layer) for layer in layers], {"self": places}
        decoder = [(kind, layer) for layer in layers for kind in ("decoder", "cross")]
        return [*(("encoder", layer) for layer in layers), *decoder], {"encoder": places, "decoder": places}

    def run_plan(
        self,
        texts: Sequence[Sequence[Token]],
        targets: Sequence[Sequence[Token]],
        plan: Plan,
        outs: bool = False,
        stream: Tensor | None = None,
    ) -> Record:
        with plan.running(outs) as record:
            if stream is None:
                self._stream(self.batch_ids(texts), self.batch_ids(targets))
            else:
                stack = self.stack
                reading = stack.reading(0, stream.shape[1], None, None)
                x = note_hidden(stream.to(stack.embedding.weight.dtype))
                for layer in range(plan.start, self.info.layers):
                    x = note_hidden(stack.blocks[layer](x, reading, layer, None, None))
        return record

    def attention_options(self, kind: str) -> dict[str, Any]:
        return {} if kind == "cross" else {"rotary": self.rotary}

    # What differs between the kinds

    @abstractmethod
    def trace_tokens(self, text: str, tokens: list[Token], cut: int, target: str, stamp: Stamp | None) -> Trace:
        """Read tokens that fit. stamp: as `Recent` takes it."""

    def encoded(self, tokens: Sequence[Token], stamp: Stamp | None) -> Encoded:
        """Return the encoder's result for tokens that fit. Errors: ValueError for a model of one stack."""
        raise ValueError(f"{self.info.name} has no encoder beside a decoder.")

    @property
    def stack(self) -> Stack:
        """The stack that reads the text."""
        return self.network

    def _stream(self, source: Tensor, target: Tensor) -> Tensor:
        """Return the residual stream that predictions are made of, after the last block: [batch, position, d_model]."""
        return self.network.hidden(source)

    def _by_kind(self, calls: list) -> dict[str, list]:
        """Sort recorded calls, which are in order, by kind of attention and layer."""
        return {"self": calls}

    def _attention(self, kind: str, layer: int) -> MultiHeadAttention:
        return self.network.blocks[layer].attention

    # What they share

    def tokens_to_read(self, text: str, target: str) -> tuple[list[Token], int]:
        """Return the tokens of a text that fit, and how many characters do not. Errors: ValueError for a second text."""
        if target and self.info.kind != "encoder-decoder":
            raise ValueError(f"{self.info.name} reads one text at a time. Leave the second one empty.")
        return self.fitting(self.last_tokens(text, self.tokenize))

    def last_tokens(self, text: str, tokens_of: Callable[[str], list[Token]]) -> list[Token]:
        """Return the tokens of a text, for a long one only of an end that is longer than what fits."""
        return tokens_at_end(tokens_of, text, self.room)

    def fitting(self, tokens: list[Token]) -> tuple[list[Token], int]:
        """Return the tokens that fit in the context, the start token kept; and how many characters at the left do not."""
        too_many = len(tokens) - self.room
        if too_many <= 0:
            return tokens, 0
        front = int(tokens[0].id == self.vocabulary.start)
        left = tokens[front + too_many :]
        return tokens[:front] + left, left[0].start

    def rotary(self, layer: int) -> Rotary | None:
        order = self.stack.positions
        if not isinstance(order, positions.Rotary):
            return None
        cos, sin = order.turns[:, 1].double().cpu().numpy()  # of one step
        return Rotary(np.arctan2(sin, cos))

    def _rows(self, trace: Trace, positions: Sequence[int]) -> Tensor:
        """Return the stream after the last block at some positions: [position, d_model]."""
        return self.as_tensor(trace.stream[-1][list(positions)])

    def as_tensor(self, values: np.ndarray) -> Tensor:
        """Return an array as a tensor on the network's device, in its type."""
        weight = self.stack.embedding.weight
        return torch.tensor(values, device=weight.device, dtype=weight.dtype)  # a copy: traces are read-only

    def unembed(self, hidden: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            return self.network.unembed(self.as_tensor(hidden)).float().cpu().numpy()

    def batch_ids(self, texts: Sequence[Sequence[Token]]) -> Tensor:
        """Return the ids of texts that are equally long: int64 [text, position]."""
        return self.whole_numbers([[token.id for token in text] for text in texts])

    def whole_numbers(self, numbers: Sequence) -> Tensor:
        """Return whole numbers as a tensor on the network's device: int64."""
        return torch.tensor(numbers, dtype=torch.long, device=self.stack.embedding.weight.device)


def stream_of(streams: list[Tensor]) -> np.ndarray:
    """Return the recorded residual stream of a stack of blocks: float32 [layers + 1, position, d_model]."""
    return torch.stack(streams).float().cpu().numpy()
