"""A transformer from scratch, to be read from top to bottom: attention, block, stack, and the three kinds of whole.

Shapes stand at the end of each line that changes them. What has variants lives in a small file of its own, is chosen by the
config and is called by its name there: positions.py, norms.py, feedforward.py, masks.py, scores.py, cheaper.py and
initialisation.py. The softmax itself is `models.attention.kernel.attend`, the one function that every model here calls, so that
it can be recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from models.attention.kernel import attend
from models.attention.recorder import note_hidden
from models.scratch import masks
from models.scratch.cheaper import CHEAPER
from models.scratch.config import TransformerConfig
from models.scratch.feedforward import feedforward
from models.scratch.initialisation import initialise
from models.scratch.norms import NORMS, RMSNorm
from models.scratch.patches import PatchEmbedding
from models.scratch.positions import POSITIONS, NoPositions
from models.scratch.scores import SCORES

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "TransformerConfig", "build"]


@dataclass
class Cache:
    """Keys and values of the positions already read, one pair for each layer, so that they are not computed again.

    layers: list of (key, value), each [batch, kv_heads, position, d_head]; source: the same of the text that cross-attention
    looks at, which is read once. A cache belongs to the texts that it began with.
    """

    layers: list[tuple[Tensor, Tensor]] = field(default_factory=list)
    source: list[tuple[Tensor, Tensor]] = field(default_factory=list)

    @property
    def length(self) -> int:
        return self.layers[0][0].shape[2] if self.layers else 0

    def extend(self, layer: int, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Append new positions to a layer; returns all keys and values up to now."""
        if layer == len(self.layers):
            self.layers.append((key, value))
        else:
            old_key, old_value = self.layers[layer]
            self.layers[layer] = torch.cat([old_key, key], dim=2), torch.cat([old_value, value], dim=2)
        return self.layers[layer]

    def of_source(self, layer: int, read: Callable[[], tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
        """Return the source's keys and values for a layer, computed the first time only."""
        if layer == len(self.source):
            self.source.append(read())
        return self.source[layer]

    def rows(self, chosen: Tensor) -> Cache:
        """Return the cache of the chosen texts of the batch, in this order, for a beam search that continues them."""
        layers, source = ([(key[chosen], value[chosen]) for key, value in pairs] for pairs in (self.layers, self.source))
        return Cache(layers, source)


@dataclass
class Reading:
    """The state that the layers of a stack share during a reading: positions, masks and the cache.

    places: the positions of the tokens that are read now, a slice or ints [position]. padding: bool [batch, 1, 1, key], True
    where there is text. mask: everything that hides keys, bool broadcastable to [batch, heads, query, key], or None where
    `future` suffices. bias: added to the scores by positions, [heads, query, key].
    """

    positions: NoPositions
    future: bool  # whether a position sees those after it
    places: slice | Tensor
    cache: Cache | None = None
    padding: Tensor | None = None
    mask: Tensor | None = None
    bias: Tensor | None = None


class MultiHeadAttention(nn.Module):
    """Each head asks with a query, is matched against keys, and brings back values (Vaswani et al. 2017, section 3.2.2).

    Queries come from x; keys and values from x too (self-attention) or from another text's stream (cross-attention). With fewer
    heads of keys than of queries, several queries share one (Shazeer 2019, multi-query; Ainslie et al. 2023, grouped-query).
    """

    def __init__(self, config: TransformerConfig, cross: bool = False):
        super().__init__()
        self.config, self.cross = config, cross
        shared = config.key_heads * config.d_head
        self.query = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        self.key = nn.Linear(config.d_model, shared, bias=config.bias)
        self.value = nn.Linear(config.d_model, shared, bias=config.bias)
        self.output = nn.Linear(config.d_model, config.d_model, bias=config.bias)
        if config.qk_norm:
            self.query_norm, self.key_norm = RMSNorm(config.d_head), RMSNorm(config.d_head)
        if config.computed != "exact":
            self.cheaper = CHEAPER[config.computed](config)
        elif config.score != "dot":
            self.score = SCORES[config.score](config)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.config.d_head)).transpose(1, 2)  # [batch, heads, position, d_head]

    def forward(self, x: Tensor, reading: Reading, layer: int, memory: Tensor | None = None) -> Tensor:
        """x: [batch, position, d_model]; memory: [batch, source position, d_model] in cross-attention. Returns the shape of x."""
        query = self.split(self.query(x))  # [batch, heads, position, d_head]
        query = self.query_norm(query) if self.config.qk_norm else query
        source = x if memory is None else memory
        if not self.cross:
            key, value = self.keys_and_values(source)
            query, key = reading.positions.turn(query, reading.places), reading.positions.turn(key, reading.places)
            if reading.cache is not None:
                key, value = reading.cache.extend(layer, key, value)  # [batch, kv_heads, all positions, d_head]
        elif reading.cache is not None:
            key, value = reading.cache.of_source(layer, lambda: self.keys_and_values(source))
        else:
            key, value = self.keys_and_values(source)
        out = self.attend(query, key, value, reading)  # [batch, position, heads, d_head]
        return self.output(out.flatten(-2))  # [batch, position, d_model]

    def keys_and_values(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """source: [batch, position, d_model]. Returns twice [batch, kv_heads, position, d_head]."""
        key, value = self.split(self.key(source)), self.split(self.value(source))
        return self.key_norm(key) if self.config.qk_norm else key, value

    def attend(self, query: Tensor, key: Tensor, value: Tensor, reading: Reading) -> Tensor:
        """Compute softmax(q·k / (√d_head · temperature)) v (Vaswani et al. 2017, eq. 1), or else the config's cheaper attention,
        or that with another score. Returns [batch, position, heads, d_head]."""
        config = self.config
        if config.computed != "exact":
            return self.cheaper(query, key, value, reading.padding, reading.future)
        if config.score != "dot":
            return self.score(query, key, value, reading.mask, reading.bias, reading.future, self.drop)
        scale = config.d_head**-0.5 / config.temperature
        mask, bias, future = reading.mask, reading.bias, reading.future
        return attend(query, key, value, mask, scale=scale, bias=bias, future=future, dropout=self.drop)

    @property
    def drop(self) -> float:
        return self.config.dropout if self.training else 0.0


class Block(nn.Module):
    """Attention, in a decoder of two stacks also cross-attention, then feed-forward; each adds its answer to the stream.

    norm_place "before": x + f(norm(x)), so that the stream itself is never touched (Xiong et al. 2020, "On Layer Normalization in
    the Transformer Architecture"); "after": norm(x + f(x)), as first published.
    """

    def __init__(self, config: TransformerConfig, cross: bool = False):
        super().__init__()
        self.before = config.norm_place == "before"
        norm = NORMS[config.norm]
        self.attention_norm, self.attention = norm(config.d_model), MultiHeadAttention(config)
        if cross:
            self.cross_norm, self.cross = norm(config.d_model), MultiHeadAttention(config, cross=True)
        self.feedforward_norm, self.feedforward = norm(config.d_model), feedforward(config)
        self.dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()

    def forward(self, x: Tensor, reading: Reading, layer: int, memory: Tensor | None, source: Reading | None) -> Tensor:
        """x: [batch, position, d_model]; memory: the encoder's output for the source. Returns the shape of x."""
        x = self.add(x, self.attention_norm, lambda y: self.attention(y, reading, layer))
        if memory is not None:
            x = self.add(x, self.cross_norm, lambda y: self.cross(y, source, layer, memory))
        return self.add(x, self.feedforward_norm, self.feedforward)

    def add(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Add a sublayer's answer to the stream, with the norm where the config has it."""
        return x + self.dropout(sublayer(norm(x))) if self.before else norm(x + self.dropout(sublayer(x)))


class Stack(nn.Module):
    """Blocks between an embedding and an unembedding. `Decoder` and `Encoder` differ in who may look ahead, nothing else."""

    future: bool  # whether a position sees those after it
    name = "self"  # of its stream in a record

    def __init__(
        self,
        config: TransformerConfig,
        embedding: nn.Embedding | PatchEmbedding | None = None,
        cross: bool = False,
        predicts: bool = True,
    ):
        """embedding: of another stack, to be shared, or that of images. cross: whether each block also looks at a memory.
        predicts: whether it has an unembedding of its own."""
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.d_model) if embedding is None else embedding
        self.positions = POSITIONS[config.positions](config, causal=not self.future)
        norm = NORMS[config.norm]
        self.embedding_norm = norm(config.d_model) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()
        self.blocks = nn.ModuleList(Block(config, cross) for _ in range(config.layers))
        self.final_norm = norm(config.d_model) if config.norm_place == "before" else nn.Identity()
        if config.head_transform and predicts:
            dense = nn.Linear(config.d_model, config.d_model)
            self.transform = nn.Sequential(dense, nn.GELU(), norm(config.d_model))
            self.unembedding_bias = nn.Parameter(torch.zeros(config.vocabulary))
        if not config.tied and predicts:
            self.unembedding = nn.Linear(config.d_model, len(config.labels) or config.vocabulary, bias=False)
        initialise(self, config)

    def reset(self) -> None:
        """Compute again the buffers that follow from the config and are not among the weights."""
        self.positions.reset()

    def hidden(
        self,
        ids: Tensor,
        cache: Cache | None = None,
        lengths: Tensor | None = None,
        memory: Tensor | None = None,
        source_lengths: Tensor | None = None,
        places: Tensor | None = None,
    ) -> Tensor:
        """Read the tokens and return the residual stream after the last block, before the final norm.

        ids: int [batch, position]; with a cache, only the positions that come after it. lengths: int [batch], how much of each
        text is no padding; memory: [batch, source position, d_model], an encoder's output; source_lengths: as lengths, for the
        encoder's texts. places: int [position], where the tokens of several texts stand side by side: their positions.
        Returns [batch, position, d_model]. Errors: ValueError when cache and ids together are longer than the context, and for a
        cache where the future is seen.
        """
        start = cache.length if cache is not None else 0
        end = start + ids.shape[1]
        longest = end if places is None else int(places.max()) + 1
        if longest > self.config.context:
            raise ValueError(f"{longest} tokens do not fit in a context of {self.config.context}.")
        if cache is not None and self.future:
            raise ValueError("An encoder cannot read on from a cache: what is added changes what its earlier positions see.")
        x = self.embedding(ids) * self.config.d_model**0.5 if self.config.embedding_scale else self.embedding(ids)
        reading = self.reading(start, end, cache, lengths)
        if places is not None:
            reading.places = places
        x = self.positions.embed(x, reading.places)  # [batch, position, d_model]
        x = self.dropout(self.embedding_norm(x))
        x = note_hidden(x, self.name)
        source = None if memory is None else self.reading_source(memory, cache, source_lengths)
        for layer, block in enumerate(self.blocks):
            if self.config.checkpointing and torch.is_grad_enabled() and cache is None:
                x = checkpoint(block, x, reading, layer, memory, source, use_reentrant=False)
            else:
                x = block(x, reading, layer, memory, source)
            x = note_hidden(x, self.name)
        return x

    def reading(self, start: int, end: int, cache: Cache | None, lengths: Tensor | None) -> Reading:
        """Return the shared state of self-attention for reading the positions from `start` to `end`."""
        device, queries = self.embedding.weight.device, end - start
        padding = None if lengths is None else masks.padding(lengths, end)  # [batch, 1, 1, key]
        plain = lengths is None and self.config.pattern == "full"  # then the kernel hides keys by itself
        mask = None if plain else masks.mask(self.config, queries, end, self.future, lengths, device)
        places, bias = slice(start, end), self.positions.bias(queries, end)
        return Reading(self.positions, self.future, places, cache, padding, mask, bias)

    def reading_source(self, memory: Tensor, cache: Cache | None, lengths: Tensor | None) -> Reading:
        """Return the shared state of cross-attention: it sees the whole source but its padding, and adds no positions."""
        padding = None if lengths is None else masks.padding(lengths, memory.shape[1])  # [batch, 1, 1, key]
        return Reading(self.positions, True, slice(memory.shape[1]), cache, padding, padding)

    def unembed(self, x: Tensor) -> Tensor:
        """Map the residual stream [..., d_model] to logits [..., vocabulary], or [..., labels], through the final norm."""
        x = self.final_norm(x)
        if self.config.head_transform:
            x = self.transform(x)
        logits = F.linear(x, self.embedding.weight if self.config.tied else self.unembedding.weight)
        return logits + self.unembedding_bias if self.config.head_transform else logits

    def forward(self, ids: Tensor, cache: Cache | None = None, lengths: Tensor | None = None) -> Tensor:
        """ids: int [batch, position]. Returns logits [batch, position, vocabulary]: a decoder's of the token after each position,
        an encoder's of the token at it."""
        return self.unembed(self.hidden(ids, cache, lengths))


class Decoder(Stack):
    """A stack in which no position sees those after it: it predicts the next token (Radford et al. 2018)."""

    future = False


class Encoder(Stack):
    """A stack in which every position sees all: it predicts tokens that are masked (Devlin et al. 2019)."""

    future = True


class EncoderDecoder(nn.Module):
    """An encoder that reads the source, and a decoder that writes the target while it looks at the encoder's output (Vaswani et
    al. 2017, figure 1). They share one embedding."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.encoder = Encoder(config, predicts=False)
        self.decoder = Decoder(config, self.encoder.embedding, cross=True)
        self.encoder.name, self.decoder.name = "encoder", "decoder"

    def reset(self) -> None:
        """Reset both stacks, as `Stack.reset`."""
        self.encoder.reset()
        self.decoder.reset()

    def encode(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        """ids: int [batch, source position]. Returns the memory that the decoder looks at: [batch, source position, d_model]."""
        return self.encoder.final_norm(self.encoder.hidden(ids, lengths=lengths))

    def hidden(self, ids: Tensor, memory: Tensor, cache: Cache | None = None, source_lengths: Tensor | None = None) -> Tensor:
        """Return the decoder's stream over target ids [batch, position], as `Stack.hidden`."""
        return self.decoder.hidden(ids, cache, memory=memory, source_lengths=source_lengths)

    def unembed(self, x: Tensor) -> Tensor:
        return self.decoder.unembed(x)

    def forward(self, source: Tensor, target: Tensor, source_lengths: Tensor | None = None) -> Tensor:
        """Return the logits of the token after each position of the target: [batch, position, vocabulary]."""
        return self.unembed(self.hidden(target, self.encode(source, source_lengths), source_lengths=source_lengths))


def build(config: TransformerConfig) -> Decoder | Encoder | EncoderDecoder:
    """Build the transformer of a config, with fresh weights."""
    if config.image:
        return Encoder(config, PatchEmbedding(config))
    return {"decoder": Decoder, "encoder": Encoder, "encoder-decoder": EncoderDecoder}[config.kind](config)
