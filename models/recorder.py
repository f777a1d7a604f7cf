"""The one attention function, and the recorder that listens to it.

Every model in Headlight computes attention here. The output comes from PyTorch's fused kernel, which never
builds the matrix of weights; when a recorder is active in the calling context it keeps references to
query, key and value, from which the weights of the layer on screen are computed when somebody looks.
"""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import Tensor

_active: contextvars.ContextVar[Record | None] = contextvars.ContextVar("headlight_record", default=None)


@dataclass(slots=True)
class Call:
    """One call of the attention function, batch row 0 kept by reference.

    query [heads, query, d_head], key and value [kv_heads, key, d_head] (after positions were applied),
    mask bool [heads or 1, query, key] (True = may look) or None, out [query, heads, d_head] before the output projection.
    """

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Tensor | None
    causal: bool
    scale: float
    out: Tensor

    def expanded(self, name: str) -> Tensor:
        """key or value with one row of heads a query head (grouped-query attention shares them): [heads, key, d_head]."""
        shared = getattr(self, name)
        return shared.repeat_interleave(self.query.shape[0] // shared.shape[0], dim=0)

    def scores(self, first: int = 0) -> Tensor:
        """q·k after scaling, before the mask, for the queries from `first` on: float32 [heads, query, key]."""
        return (self.query[:, first:] @ self.expanded("key").transpose(-1, -2)).float() * self.scale

    def weights(self, first: int = 0) -> Tensor:
        """What the softmax gave the queries from `first` on: float32 [heads, query, key]."""
        mask = self.mask
        if mask is None and self.causal:
            mask = causal_mask(self.query.shape[1], self.key.shape[1], self.query.device)
        scores = self.scores(first)
        if mask is not None:
            scores = scores.masked_fill_(~mask[..., first:, :], float("-inf"))
        return scores.softmax(-1)


@dataclass(slots=True)
class Record:
    """What one forward pass left behind: attention calls in order, and the residual stream."""

    calls: list[Call] = field(default_factory=list)
    hidden: list[Tensor] = field(default_factory=list)  # [position, d_model]: after the embedding, then after each block


@contextlib.contextmanager
def recording() -> Iterator[Record]:
    """Record every forward pass made inside the `with` block, in this thread and context only."""
    record = Record()
    token = _active.set(record)
    try:
        yield record
    finally:
        _active.reset(token)


def attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, scale: float | None = None, dropout: float = 0.0
) -> Tensor:
    """Scaled dot-product attention: softmax(q k^T · scale, over the keys that the mask allows) v.

    query: [batch, heads, query, d_head]; key, value: [batch, kv_heads, key, d_head], where kv_heads divides heads
    (grouped-query attention when fewer); mask: bool, broadcastable to [batch, heads, query, key], True where a query
    may look, or None for causal: query i is the i-th last position and looks at every key up to its own.
    scale: defaults to 1 / sqrt(d_head). Returns [batch, query, heads, d_head].

    Source: Vaswani et al. 2017, "Attention Is All You Need", eq. 1.
    """
    causal = mask is None
    if torch.compiler.is_compiling() and causal and query.device.type == "cpu":
        return softmax_attention(query, key, value, causal_mask(query.shape[2], key.shape[2]), scale).transpose(1, 2)
    queries, keys = query.shape[2], key.shape[2]
    if causal and 1 < queries < keys:  # the kernel's own causal mask is aligned to the first key, a cached prefix needs the last
        mask = causal_mask(queries, keys, query.device)
    out = F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        dropout_p=dropout,
        is_causal=causal and queries == keys > 1,
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    ).transpose(1, 2)  # [batch, query, heads, d_head]
    if not torch.compiler.is_compiling() and (record := _active.get()) is not None:
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        row = mask if mask is None or mask.dim() < 4 else mask[0]
        record.calls.append(Call(query[0], key[0], value[0], row, causal, scale, out[0]))
    return out


def softmax_attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: float | None = None) -> Tensor:
    """The same sum written out, for training: compiled for a CPU its forward and backward take 0.8x the fused kernel's time.

    Shapes as in `attend`, with as many key heads as query heads. Returns [batch, heads, query, d_head].
    """
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scale is None else scale)  # [batch, heads, query, key]
    weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
    return weights.to(value.dtype) @ value  # [batch, heads, query, d_head]


def note_hidden(x: Tensor) -> None:
    """Keep the residual stream x [batch, position, d_model] when a recorder is active."""
    if not torch.compiler.is_compiling() and (record := _active.get()) is not None:
        record.hidden.append(x[0])


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """bool [queries, keys]: the queries are the last positions, and each sees the keys up to its own."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)
