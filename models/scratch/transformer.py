"""A transformer from scratch, to be read from top to bottom: attention, block, the whole.

Shapes stand at the end of each line that changes them. The parts that have variants (positions, feed-forward) live in
small files of their own and are chosen by the config. Attention itself is `models.recorder.attend`, the one function
that every model here calls, so that what it does can be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.recorder import attend, note_hidden
from models.scratch.feedforward import FEEDFORWARD
from models.scratch.positions import rotary_turns, rotate


@dataclass(frozen=True)
class TransformerConfig:
    """Every choice that makes one transformer differ from another."""

    vocabulary: int = 8192
    context: int = 256  # the longest input, in tokens
    d_model: int = 256  # width of the residual stream
    layers: int = 6
    heads: int = 8
    d_ff: int = 704  # width of the feed-forward
    positions: str = "rotary"  # "rotary" | "learned"
    feedforward: str = "swiglu"  # "swiglu" | "gelu"
    qk_norm: bool = True  # normalise queries and keys, head by head (Henry et al. 2020)
    dropout: float = 0.0

    def __post_init__(self):
        for name in ("vocabulary", "context", "d_model", "layers", "heads", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1; it is {getattr(self, name)}.")
        if self.d_model % self.heads:
            raise ValueError(
                f"d_model ({self.d_model}) must be a multiple of heads ({self.heads}): each head gets an equal share."
            )
        if self.positions not in ("rotary", "learned"):
            raise ValueError(f'positions must be "rotary" or "learned"; it is {self.positions!r}.')
        if self.feedforward not in FEEDFORWARD:
            raise ValueError(f"feedforward must be one of {', '.join(FEEDFORWARD)}; it is {self.feedforward!r}.")

    @property
    def d_head(self) -> int:
        return self.d_model // self.heads


@dataclass
class Cache:
    """Keys and values of the positions already read, one pair a layer, so that they are not computed again.

    layers: list of (key, value), each [batch, heads, position, d_head].
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


class MultiHeadAttention(nn.Module):
    """Each head asks with a query, is matched against keys, and brings back values (Vaswani et al. 2017, section 3.2.2)."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.query = nn.Linear(config.d_model, config.d_model, bias=False)
        self.key = nn.Linear(config.d_model, config.d_model, bias=False)
        self.value = nn.Linear(config.d_model, config.d_model, bias=False)
        self.output = nn.Linear(config.d_model, config.d_model, bias=False)
        if config.qk_norm:
            self.query_norm = nn.RMSNorm(config.d_head)
            self.key_norm = nn.RMSNorm(config.d_head)

    def split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.config.heads, self.config.d_head)).transpose(1, 2)  # [batch, heads, position, d_head]

    def forward(self, x: Tensor, turns: Tensor | None, cache: Cache | None, layer: int) -> Tensor:
        """x: [batch, position, d_model]. Returns the same shape."""
        query, key, value = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        if self.config.qk_norm:
            query, key = self.query_norm(query), self.key_norm(key)
        if turns is not None:
            query, key = rotate(query, turns), rotate(key, turns)
        if cache is not None:
            key, value = cache.extend(layer, key, value)  # [batch, heads, all positions, d_head]
        out = attend(query, key, value, dropout=self.config.dropout if self.training else 0.0)  # [batch, position, heads, d_head]
        return self.output(out.flatten(-2))  # [batch, position, d_model]


class Block(nn.Module):
    """Attention, then feed-forward; each reads a normalised copy of the stream and adds its answer back (pre-norm).

    Source: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture".
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.attention_norm = nn.RMSNorm(config.d_model)
        self.attention = MultiHeadAttention(config)
        self.feedforward_norm = nn.RMSNorm(config.d_model)
        self.feedforward = FEEDFORWARD[config.feedforward](config.d_model, config.d_ff)
        self.dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()

    def forward(self, x: Tensor, turns: Tensor | None, cache: Cache | None, layer: int) -> Tensor:
        """x: [batch, position, d_model]. Returns the same shape."""
        x = x + self.dropout(self.attention(self.attention_norm(x), turns, cache, layer))
        return x + self.dropout(self.feedforward(self.feedforward_norm(x)))


class Decoder(nn.Module):
    """A stack of causal blocks between an embedding and its transpose: it predicts the next token."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)  # tied: also the unembedding (Press and Wolf 2017)
        if config.positions == "learned":
            self.position_embedding = nn.Embedding(config.context, config.d_model)
        else:
            self.reset_turns()
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.final_norm = nn.RMSNorm(config.d_model)
        self.apply(self._initialise)

    def reset_turns(self) -> None:
        """Rotary turns follow from the config, so they are not among the weights."""
        if self.config.positions == "rotary":
            self.register_buffer("turns", rotary_turns(self.config.d_head, self.config.context), persistent=False)

    def _initialise(self, module: nn.Module) -> None:
        """Normal weights; what writes into the stream starts at zero, so that every block starts as the identity."""
        if isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        elif isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=module.in_features**-0.5)
        if isinstance(module, Block):
            nn.init.zeros_(module.attention.output.weight)
            nn.init.zeros_(module.feedforward.down.weight)

    def hidden(self, ids: Tensor, cache: Cache | None = None) -> Tensor:
        """Read the tokens and return the residual stream after the last block, before the final norm.

        ids: int [batch, position]; with a cache, only the positions that come after it. Returns [batch, position, d_model].
        Errors: ValueError when cache and ids together are longer than the context.
        """
        start = cache.length if cache is not None else 0
        end = start + ids.shape[1]
        if end > self.config.context:
            raise ValueError(f"{end} tokens do not fit in a context of {self.config.context}.")
        x = self.embedding(ids)  # [batch, position, d_model]
        turns = None
        if self.config.positions == "learned":
            x = x + self.position_embedding.weight[start:end]
        else:
            turns = self.turns[:, start:end]  # [2, position, d_head / 2]
        note_hidden(x)
        for layer, block in enumerate(self.blocks):
            x = block(x, turns, cache, layer)
            note_hidden(x)
        return x

    def unembed(self, x: Tensor) -> Tensor:
        """Residual stream [..., d_model] to logits [..., vocabulary], through the final norm."""
        return F.linear(self.final_norm(x), self.embedding.weight)

    def forward(self, ids: Tensor, cache: Cache | None = None) -> Tensor:
        """ids: int [batch, position]. Returns the logits of the token after each position: [batch, position, vocabulary]."""
        return self.unembed(self.hidden(ids, cache))
