"""A transformer from scratch, to be read from top to bottom: attention, block, stack, and the three kinds of whole.

Shapes stand at the end of each line that changes them. What has variants lives in a small file of its own, is chosen by the
config and is called by its name there: positions.py, norms.py, feedforward.py, masks.py, scores.py, cheaper.py. The softmax
itself is `models.recorder.attend`, the one function that every model here calls, so that what it does can be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.recorder import note_hidden
from models.scratch import masks
from models.scratch.cheaper import CHEAPER
from models.scratch.config import TransformerConfig
from models.scratch.feedforward import FeedForward, SwiGLU, feedforward
from models.scratch.norms import NORMS, RMSNorm
from models.scratch.positions import POSITIONS, NoPositions
from models.scratch.scores import SCORES

__all__ = ["Cache", "Decoder", "Encoder", "EncoderDecoder", "TransformerConfig", "build"]


@dataclass
class Cache:
    """Keys and values of the positions already read, one pair a layer, so that they are not computed again.

    layers: list of (key, value), each [batch, kv_heads, position, d_head].
    """

    layers: list[tuple[Tensor, Tensor]] = field(default_factory=list)

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


@dataclass
class Reading:
    """What the layers of a stack share while they read: the order of positions, who may see whom, and what is remembered.

    start: the position of the first token that is read now. lengths: int [batch], how much of each text is no padding.
    """

    positions: NoPositions
    future: bool  # whether a position sees those after it
    start: int = 0
    lengths: Tensor | None = None
    cache: Cache | None = None


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
        if config.computed == "exact":
            self.score = SCORES[config.score](config)
        else:
            self.cheaper = CHEAPER[config.computed](config)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (-1, self.config.d_head)).transpose(1, 2)  # [batch, heads, position, d_head]

    def forward(self, x: Tensor, reading: Reading, layer: int, memory: Tensor | None = None) -> Tensor:
        """x: [batch, position, d_model]; memory: [batch, source position, d_model] in cross-attention. Returns the shape of x."""
        source = x if memory is None else memory
        query, key, value = self.split(self.query(x)), self.split(self.key(source)), self.split(self.value(source))
        if self.config.qk_norm:
            query, key = self.query_norm(query), self.key_norm(key)
        if not self.cross:
            query, key = reading.positions.turn(query, reading.start), reading.positions.turn(key, reading.start)
            if reading.cache is not None:
                key, value = reading.cache.extend(layer, key, value)  # [batch, kv_heads, all positions, d_head]
        out = self.attend(query, key, value, reading)  # [batch, position, heads, d_head]
        return self.output(out.flatten(-2))  # [batch, position, d_model]

    def attend(self, query: Tensor, key: Tensor, value: Tensor, reading: Reading) -> Tensor:
        """Who may see whom, then the softmax or what the config has in its place. Returns [batch, position, heads, d_head]."""
        queries, keys, future = query.shape[2], key.shape[2], self.cross or reading.future
        padding = None if reading.lengths is None else masks.padding(reading.lengths, keys)  # [batch, 1, 1, key]
        if self.config.computed != "exact":
            return self.cheaper(query, key, value, padding, future)
        if self.cross:
            return self.score(query, key, value, padding, None, True, self.drop)
        if padding is None and self.config.pattern == "full":
            mask = None  # the kernel knows the causal mask by itself
        else:
            mask = masks.mask(self.config.pattern, queries, keys, self.config.window, future, reading.lengths, query.device)
        bias = reading.positions.bias(queries, keys)  # [heads, query, key], or None
        return self.score(query, key, value, mask, bias, future, self.drop)

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
        """x: [batch, position, d_model]; memory: what the other stack made of the source. Returns the shape of x."""
        x = self.add(x, self.attention_norm, lambda y: self.attention(y, reading, layer))
        if memory is not None:
            x = self.add(x, self.cross_norm, lambda y: self.cross(y, source, layer, memory))
        return self.add(x, self.feedforward_norm, self.feedforward)

    def add(self, x: Tensor, norm: nn.Module, sublayer) -> Tensor:
        """A sublayer's answer added to the stream, with the norm where the config has it."""
        return x + self.dropout(sublayer(norm(x))) if self.before else norm(x + self.dropout(sublayer(x)))


class Stack(nn.Module):
    """Blocks between an embedding and an unembedding. `Decoder` and `Encoder` differ in who may look ahead, nothing else."""

    future: bool  # whether a position sees those after it
    name = "self"  # of its stream in a record

    def __init__(self, config: TransformerConfig, embedding: nn.Embedding | None = None, cross: bool = False):
        """embedding: of another stack, to be shared. cross: whether each block also looks at a memory."""
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.d_model) if embedding is None else embedding
        self.positions = POSITIONS[config.positions](config, causal=not self.future)
        norm = NORMS[config.norm]
        self.embedding_norm = norm(config.d_model) if config.embedding_norm else nn.Identity()
        self.dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()
        self.blocks = nn.ModuleList(Block(config, cross) for _ in range(config.layers))
        self.final_norm = norm(config.d_model) if config.norm_place == "before" else nn.Identity()
        if config.head_transform:
            dense = nn.Linear(config.d_model, config.d_model)
            self.transform = nn.Sequential(dense, nn.GELU(), norm(config.d_model))
            self.unembedding_bias = nn.Parameter(torch.zeros(config.vocabulary))
        if not config.tied:
            self.unembedding = nn.Linear(config.d_model, config.vocabulary, bias=False)
        self.checkpointing = False  # compute blocks again in the backward pass, to save memory (Chen et al. 2016)
        self.apply(initialise)

    def reset(self) -> None:
        """Make again what follows from the config and is not among the weights."""
        self.positions.reset()

    def hidden(
        self,
        ids: Tensor,
        cache: Cache | None = None,
        lengths: Tensor | None = None,
        memory: Tensor | None = None,
        source_lengths: Tensor | None = None,
    ) -> Tensor:
        """Read the tokens and return the residual stream after the last block, before the final norm.

        ids: int [batch, position]; with a cache, only the positions that come after it. lengths: int [batch], how much of each
        text is no padding; memory: [batch, source position, d_model] of an encoder, source_lengths as lengths, of its texts.
        Returns [batch, position, d_model]. Errors: ValueError when cache and ids together are longer than the context.
        """
        start = cache.length if cache is not None else 0
        end = start + ids.shape[1]
        if end > self.config.context:
            raise ValueError(f"{end} tokens do not fit in a context of {self.config.context}.")
        x = self.positions.embed(self.embedding(ids), start)  # [batch, position, d_model]
        x = self.dropout(self.embedding_norm(x))
        note_hidden(x, self.name)
        reading = Reading(self.positions, self.future, start, lengths, cache)
        source = Reading(self.positions, True, 0, source_lengths)
        for layer, block in enumerate(self.blocks):
            if self.checkpointing and self.training:
                x = torch.utils.checkpoint.checkpoint(block, x, reading, layer, memory, source, use_reentrant=False)
            else:
                x = block(x, reading, layer, memory, source)
            note_hidden(x, self.name)
        return x

    def unembed(self, x: Tensor) -> Tensor:
        """Residual stream [..., d_model] to logits [..., vocabulary], through the final norm."""
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
    """An encoder reads the source, and a decoder writes the target while it looks at what the encoder made of it (Vaswani et al.
    2017, figure 1). They share one embedding."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config, self.encoder.embedding, cross=True)
        self.encoder.name, self.decoder.name = "encoder", "decoder"

    def encode(self, ids: Tensor, lengths: Tensor | None = None) -> Tensor:
        """ids: int [batch, source position]. Returns the memory that the decoder looks at: [batch, source position, d_model]."""
        return self.encoder.final_norm(self.encoder.hidden(ids, lengths=lengths))

    def hidden(self, ids: Tensor, memory: Tensor, cache: Cache | None = None, source_lengths: Tensor | None = None) -> Tensor:
        """The decoder's stream over target ids [batch, position], as `Stack.hidden`."""
        return self.decoder.hidden(ids, cache, memory=memory, source_lengths=source_lengths)

    def unembed(self, x: Tensor) -> Tensor:
        return self.decoder.unembed(x)

    def forward(self, source: Tensor, target: Tensor, source_lengths: Tensor | None = None) -> Tensor:
        """Logits of the token after each position of the target: [batch, position, vocabulary]."""
        return self.unembed(self.hidden(target, self.encode(source, source_lengths), source_lengths=source_lengths))


def build(config: TransformerConfig) -> Decoder | Encoder | EncoderDecoder:
    """The transformer of a config, with fresh weights."""
    return {"decoder": Decoder, "encoder": Encoder, "encoder-decoder": EncoderDecoder}[config.kind](config)


def initialise(module: nn.Module) -> None:
    """Normal weights; what writes into the stream starts at zero, so that a pre-norm block starts as the identity."""
    if isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=0.02)
    elif isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=module.in_features**-0.5)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    if isinstance(module, MultiHeadAttention):
        nn.init.zeros_(module.output.weight)
    elif isinstance(module, FeedForward | SwiGLU):
        nn.init.zeros_(module.down.weight)
