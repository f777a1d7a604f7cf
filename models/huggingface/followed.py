"""A network of transformers whose attention and residual stream are followed: its hooks, passes and last readings."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from models.attention.recorded_call import Call
from models.attention.recorder import Record, recording
from models.attention.side_by_side import Part, ReadPart, SideBySide
from models.errors import ModelError
from models.huggingface import bigbird, layout
from models.huggingface.attention_function import NAME
from models.huggingface.checks import cache_of
from models.huggingface.names import quoted
from models.huggingface.outputs import OutputMaps
from models.huggingface.passes import Answer, Inputs
from models.huggingface.reads import InputMaps
from models.huggingface.softmax_tap import SoftmaxTap
from models.reading.prefix import Encoded, Recent, Stamp
from models.tokens import Token
from models.trace import Attention
from models.watching.watcher import Private, hook, private

Run = tuple[dict[str, list[Call]], dict[str, np.ndarray], Answer]  # calls by kind, streams by stack, the network's answer


class FollowedNetwork:
    """A network with the hooks that follow its attention and its residual stream. Safe to share between threads.

    config: of its text part. kind: "decoder" | "encoder" | "encoder-decoder". positions: the length of its learned position
    tables, None without any. embedding_rows: the ids that it has a vector for. longest_full: the longest text that it reads with
    full attention, None if that is any. tap_heads: the number of heads where the softmax is tapped, else None. layout: its
    attention calls and blocks; output_maps, input_maps: the linear maps of its heads. cached_numbers: numbers of keys and values
    a token, by kind of attention. limits_logits: whether it can compute the logits of the last position alone. reusable: whether
    it reads on from recorded keys and values. recent: its last readings.
    Errors: ModelError when its attention or its layers cannot be followed.
    """

    recent: Recent[Any]

    vocabulary: Any

    def __init__(self, network: PreTrainedModel, config: PreTrainedConfig, vocabulary: Any, kind: str, name: str):
        """vocabulary: the `TextTokens` of a network that reads text."""
        self.network, self.config, self.vocabulary, self.kind, self.name = network, config, vocabulary, kind, name
        self._find_embedding()
        self.limits_logits = "logits_to_keep" in inspect.signature(network.forward).parameters
        self.reusable = False
        self._hook()

    @staticmethod
    def config_of(network: PreTrainedModel, kind: str) -> PreTrainedConfig:
        """Return the part of a network's config that says how it reads."""
        return network.config.get_text_config(decoder=kind != "encoder")

    def _find_embedding(self) -> None:
        """Find what its embedding takes. Errors: ModelError without a table of tokens."""
        network, kind = self.network, self.kind
        self.takes_token_types = kind == "encoder" and self._has_token_types()
        self.positions = _positions(network)
        try:
            embedding = network.get_input_embeddings()
        except NotImplementedError as error:
            raise ModelError(f"{type(network).__name__} has no table with a vector for each token. {layout.CHOOSE}") from error
        self.embedding_rows: int | None = getattr(embedding, "num_embeddings", None)
        self.longest_full = bigbird.read_fully(network)

    def _hook(self) -> None:
        """Find the layout, through the attention interface or else by tapping the softmax, and install the hooks."""
        probe = self.probe(layout.SOURCE, layout.TARGET)

        def run() -> Answer:
            with torch.inference_mode():
                return self.network(**probe, return_dict=True)

        self.tap_heads: int | None = None
        _attend_by(self.network, NAME)
        with recording() as record:
            run()
        if not record.calls:
            _attend_by(self.network, "eager")
            self.tap_heads = getattr(self.config, "num_attention_heads", None)
        tap = SoftmaxTap(self.tap_heads) if self.tap_heads else nullcontext()
        with tap:
            self.layout = layout.find(self.network, run, self.kind == "encoder-decoder", self.probe_length(record))
        self._stream = layout.Stream(self.layout)
        self._stream.install()
        self.output_maps, self.input_maps = OutputMaps(self.layout), InputMaps(self.layout, self.config.hidden_size)
        watching = self.output_maps.watching, self.input_maps.watching
        with recording() as record, tap, watching[0](self.network, record), watching[1](self.network, record):
            run()
        self.cached_numbers = _cached_numbers(self.layout.split(record), self.config)

    @property
    def base(self) -> nn.Module:
        """The network without its head."""
        return self.network.base_model

    def bare(self) -> tuple[PreTrainedModel, layout.Layout, list[nn.Module]]:
        """Return a copy of the network that nothing follows, with its layout and its layers; it shares the weights."""
        network, copied_layout = private(self.network, self.layout)
        layers = list({id(layer): layer for stack in copied_layout.layers.values() for layer in stack}.values())
        for layer in layers:
            vars(layer).pop("forward", None)  # it refers to the other network's layer
        return network, copied_layout, layers

    def copy(self, number: int | None) -> Private:
        """Return a copy to be watched. number: the condition of this network."""
        network, copied_layout, layers = self.bare()
        stream = self._stream.like(copied_layout)
        stream.install()
        hook(network, layers)
        return Private(number, network, copied_layout, skips=not any(stream.shape.values()) and not stream.transposed)

    # Inputs

    def ids(self, ids: Sequence[int]) -> Tensor:
        """Return ids as a batch of one, on the network's device."""
        return torch.tensor([ids], device=self.network.device)

    def numbers(self, values: np.ndarray) -> Tensor:
        """Return an array on the network's device, in its type."""
        values = np.ascontiguousarray(values)
        return torch.tensor(values, device=self.network.device, dtype=self.network.dtype)  # a copy: traces are read-only

    def inputs(self, texts: Sequence[Sequence[Token]], decoder_ids: Sequence[Sequence[int]] = ()) -> Inputs:
        """Return the inputs for texts, and for what the decoder reads beside each, all equally long."""
        inputs: Inputs = {"input_ids": torch.tensor([[token.id for token in text] for text in texts], device=self.network.device)}
        if self.takes_token_types:
            inputs["token_type_ids"] = torch.tensor(list(map(self.vocabulary.types, texts)), device=self.network.device)
        if any(decoder_ids):
            inputs["decoder_input_ids"] = torch.tensor(decoder_ids, device=self.network.device)
        return self.uncached(inputs)

    def uncached(self, inputs: Inputs) -> Inputs:
        """Return the inputs with no keys and values kept; encoders do not take the setting."""
        if self.kind != "encoder":
            inputs["use_cache"] = False
        return inputs

    def probe(self, source: int, target: int = 0) -> Inputs:
        """Return inputs of `source` tokens, and `target` ones for a decoder beside it, all different where there are enough."""
        count = min(self.embedding_rows - 3 if self.embedding_rows else 97, 97)
        ids = [3 + i % count for i in range(max(source, target))]
        inputs: Inputs = {"input_ids": self.ids(ids[:source])}
        if self.kind == "encoder-decoder":
            inputs["decoder_input_ids"] = self.ids(ids[:target])
        return self.uncached(inputs)

    def probe_length(self, record: Record) -> int:
        """Return the number of tokens of the probe that was recorded, of the source."""
        return layout.SOURCE

    def blank(self, texts: int, positions: int) -> Inputs:
        """Return inputs of so many texts whose tokens do not matter, because all layers are skipped."""
        ids = torch.zeros(texts, positions, dtype=torch.long, device=self.network.device)
        if getattr(self.config, "pad_token_id", None) == 0:
            ids += 1  # padding would be left out
        return self.uncached({"input_ids": ids, "attention_mask": torch.ones_like(ids)})

    # Passes

    def complete(self, inputs: Inputs, past: int = 0) -> int:
        """Add the mask to the inputs of a pass, and return how many texts they hold. Errors: as `forward`."""
        for ids in (inputs["input_ids"], inputs.get("decoder_input_ids")):
            if ids is not None and self.embedding_rows and int(ids.max()) >= self.embedding_rows:
                raise ValueError(self._say_what_is_missing(int(ids.max())))
        batch, count = inputs["input_ids"].shape
        inputs["attention_mask"] = torch.ones(batch, past + count, dtype=torch.long, device=self.network.device)
        return batch

    def _say_what_is_missing(self, id: int) -> str:
        """Return a sentence on a token that the tokenizer knows and the network has no vector for."""
        if code := next((code for code, other in self.vocabulary.languages.items() if other == id), ""):
            return (
                f"{self.name} has no vector for the language {quoted(code)}. Choose others, in the menus From and To or, "
                "in Python, with source_language= and target_language=."
            )
        return f"{self.name} has no vector for {quoted(self.vocabulary.text(id)[0])}, which its tokenizer knows. Leave it out."

    def forward(
        self, network: nn.Module, recorder: AbstractContextManager[Record], past: int = 0, **inputs: Unpack[Inputs]
    ) -> tuple[Record, Answer]:
        """Run one forward pass in the gradient mode of the caller: what was recorded, and the network's answer.

        network: this one, its base, or one of its stacks; past: positions of keys and values that are given.
        Errors: ValueError for a token that the network has no vector for.
        """
        batch = self.complete(inputs, past)
        tap = SoftmaxTap(self.tap_heads, batch) if self.tap_heads else nullcontext()
        with recorder as record, tap:
            return record, network(**inputs, return_dict=True)

    def run(self, network: nn.Module, past: int = 0, **inputs: Unpack[Inputs]) -> Run:
        """Run one forward pass of one text: streams are [layers + 1, position, d_model]. Arguments and errors as `forward`."""
        with torch.inference_mode():
            record, answer = self.forward(network, recording(), past, **inputs)
        encoded = "encoder_outputs" in inputs
        calls = self.layout.split(record, without="encoder" if encoded else None)
        hidden = {stack: torch.stack(self.layout.hidden(record, stack)).float().cpu().numpy() for stack in record.hidden}
        return calls, hidden, answer

    def run_edited(
        self,
        texts: Sequence[Sequence[Token]],
        decoder_ids: Sequence[Sequence[int]],
        recorder: AbstractContextManager[Record],
        first_layer: int = 0,
        stream: Tensor | None = None,
    ) -> Record:
        """Run a batch with the edits of a plan's recorder. stream: the input of `first_layer`, before which no layer runs."""
        inputs = self.inputs(texts, decoder_ids)
        network = self.network if any(decoder_ids) else self.base
        if stream is None:
            return self.forward(network, recorder, **inputs)[0]
        but = frozenset(map(id, self.layout.layers["self"][first_layer:]))
        with layout.skipping(stream.to(self.network.device, self.network.dtype), but):
            return self.forward(network, recorder, **inputs)[0]

    def encode(self, tokens: Sequence[Token]) -> tuple[list[Call], np.ndarray]:
        """Run an encoder: its calls and its stream."""
        calls, hidden, _ = self.run(self.base, **self.inputs([tokens]))
        return calls["self"], hidden["self"]

    def decode(self, parts: Sequence[Part]) -> list[ReadPart]:
        """Run the new tokens of texts of a decoder, in one pass."""
        if len(parts) > 1:
            return self._side_by_side(SideBySide(parts))
        (part,) = parts
        inputs: Inputs = {"input_ids": self.ids(part.ids), "use_cache": bool(part.calls)}
        if part.calls:
            inputs["past_key_values"] = cache_of(part.calls)
        calls, streams, _ = self.run(self.base, past=part.start, **inputs)
        return [ReadPart(calls["self"], streams["self"])]

    def _side_by_side(self, beside: SideBySide) -> list[ReadPart]:
        ids, places = self.ids(beside.ids), self.ids(beside.places)
        with torch.inference_mode():
            record, _ = self.forward(self.base, recording(beside=beside), input_ids=ids, position_ids=places, use_cache=False)
        stream = torch.stack(self.layout.hidden(record, "self")).float().cpu().numpy()
        calls = [self.layout.split(Record(own_calls))["self"] for own_calls in beside.calls]
        return list(map(ReadPart, calls, beside.streams(stream)))

    def run_both(
        self, tokens: Sequence[Token], decoder_ids: Sequence[int], stamp: Stamp | None, use_cache: bool
    ) -> tuple[Encoded, dict[str, list[Call]], dict[str, np.ndarray], Answer]:
        """Run an encoder-decoder: the encoded source, which is taken from `recent` if it is there, then as `run`."""
        ids = tuple(token.id for token in tokens)
        encoded: Encoded | None = self.recent.get(stamp, ids)
        inputs: Inputs = {"input_ids": self.ids(ids), "decoder_input_ids": self.ids(decoder_ids), "use_cache": use_cache}
        if encoded is not None:
            inputs["encoder_outputs"] = BaseModelOutput(last_hidden_state=encoded.out)
        calls, hidden, answer = self.run(self.network, **inputs)
        if encoded is None:
            attention = Attention(tokens, tokens, calls["encoder"], numbers=self.layout.numbers("encoder"))
            encoded = Encoded(attention, hidden["encoder"], answer.encoder_last_hidden_state)
            self.recent.keep(stamp, ids, encoded)
        return encoded, calls, hidden, answer

    def _has_token_types(self) -> bool:
        """Return whether transformers would pass the tokenizer's token types to the network, and it has a vector for each."""
        types, most = self.vocabulary.known_types, getattr(self.config, "type_vocab_size", None)
        takes = all("token_type_ids" in inspect.signature(part.forward).parameters for part in (self.network, self.base))
        return types is not None and takes and (most is None or max(types.values()) < most)


def _cached_numbers(calls: dict[str, list[Call]], config: PreTrainedConfig) -> dict[str, int]:
    """Return how many numbers of keys and values are kept for each token, by kind of attention."""
    numbers = {}
    for kind, layers in calls.items():
        halves = [half for call in layers for half in (call.key, call.value) if half is not None]
        numbers[kind] = sum(half.shape[0] * half.shape[-1] for half in halves)
        numbers[kind] = numbers[kind] or 2 * len(layers) * config.hidden_size  # of a model that shows its weights alone
    return numbers


def _attend_by(network: PreTrainedModel, implementation: str) -> None:
    try:
        network.set_attn_implementation(implementation)
    except (ValueError, ImportError):
        network.set_attn_implementation("eager")


def _positions(network: nn.Module) -> int | None:
    """Return the length of the learned position tables; RoBERTa's begin after the padding index. None without a table."""
    lengths = []
    for name, module in network.named_modules():
        if isinstance(module, nn.Embedding) and name.rpartition(".")[2] in ("position_embeddings", "embed_positions", "wpe"):
            padding = -1 if module.padding_idx is None else module.padding_idx
            lengths.append(module.num_embeddings - padding - 1 - getattr(module, "offset", 0))
    return min(lengths, default=None)
