"""The attention function that every model here calls. It runs PyTorch's fused kernel, and a recorder keeps each call."""

from __future__ import annotations

import itertools
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from models.attention.recorded_call import Call
from models.attention.recorder import active
from models.attention.weight_formula import causal_mask, expand, first_row

PIECE = 16  # queries: the smallest quarter that a text is cut into


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    scale: float | None = None,
    dropout: float = 0.0,
    bias: Tensor | None = None,
    future: bool = False,
) -> Tensor:
    """Scaled dot-product attention: softmax(q k^T · scale + bias, over the keys that the mask allows) v.

    query: [batch, heads, query, d_head]; key, value: [batch, kv_heads, key, d_head], where kv_heads divides heads
    (grouped-query attention when fewer); mask: bool, broadcastable to [batch, heads, query, key], True where a query
    may look. Without a mask, a query looks at all keys if `future` is set; otherwise attention is causal: the queries are the
    last positions, and each looks at the keys up to its own. bias: float, added to the scores, broadcastable in the same way.
    scale: defaults to 1 / sqrt(d_head).
    Returns [batch, query, heads, d_head].

    Source: Vaswani et al. 2017, "Attention Is All You Need", eq. 1.
    """
    causal = mask is None and not future
    queries, keys = query.shape[2], key.shape[2]
    if torch.compiler.is_compiling() and query.device.type == "cpu":
        if causal and bias is None and queries == keys and queries % (4 * PIECE) == 0:
            return causal_in_pieces(query, key, value, scale, dropout).transpose(1, 2)
        allowed = causal_mask(queries, keys) if causal else mask
        return softmax_attention(query, key, value, allowed, scale, bias, dropout).transpose(1, 2)
    if (record := active()) is None:
        return fused(query, key, value, mask, causal, scale, bias, dropout)
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    if record.plan is not None:
        plain = partial(fused, query, key, value, mask, causal, scale, bias, dropout)
        return record.plan.attend(record, plain, query, key, value, mask, causal, scale, bias)
    if record.beside is not None:
        record.beside.check(causal and bias is None)
        each = partial(fused, mask=None, causal=True, scale=scale, bias=None, dropout=dropout)
        return record.beside.attend(query, key, value, each, causal=True, scale=scale)
    out = fused(query, key, value, mask, causal, scale, bias, dropout)
    record.keep(Call(query[0], key[0], value[0], first_row(mask), causal, scale, out[0], bias=first_row(bias)), out)
    return out


def fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    scale: float | None,
    bias: Tensor | None,
    dropout: float = 0.0,
) -> Tensor:
    """Compute `attend` by the fused kernel, which never builds the matrix of weights."""
    queries, keys = query.shape[2], key.shape[2]
    # The kernel's own causal mask is aligned to the first key; a cached prefix needs the last.
    allowed = causal_mask(queries, keys, query.device) if causal and (bias is not None or 1 < queries < keys) else mask
    if bias is not None:
        bias = bias.to(query.dtype)
    added = allowed if bias is None else bias if allowed is None else bias.masked_fill(~allowed, float("-inf"))
    return F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=added,
        dropout_p=dropout,
        is_causal=causal and added is None and queries == keys > 1,
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    ).transpose(1, 2)  # [batch, query, heads, d_head]


def attend_by_weights(given: Tensor, key: Tensor, value: Tensor, dropout: float = 0.0) -> Tensor:
    """Apply weights [batch, heads, query, key] that come from elsewhere than q·k to the values: weights · v.

    key, value: [batch, kv_heads, key, d_head]; the keys are only recorded, to be read on from. Returns [batch, query, heads,
    d_head].
    """
    if (record := active()) is not None:
        if record.plan is not None:
            return record.plan.attend_by_weights(record, given, key, value)
        if record.beside is not None:
            record.beside.check(False)
        record.keep(Call(None, key[0], value[0], given=given[0]), given)
    return (F.dropout(given, dropout).to(value.dtype) @ expand(value, given.shape[1])).transpose(1, 2)


def softmax_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float | None = None,
    bias: Tensor | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Compute `attend` written out, for training: compiled for a CPU, forward and backward take 0.8x the fused kernel's time.

    Shapes as in `attend`; without a mask every key is looked at. Returns [batch, heads, query, d_head].
    """
    scale = query.shape[-1] ** -0.5 if scale is None else scale
    scores = query @ expand(key, query.shape[1]).transpose(-1, -2) * scale  # [batch, heads, query, key]
    scores = scores if bias is None else scores + bias.to(scores.dtype)
    scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(-1) if not dropout else F.dropout(scores.softmax(-1), dropout)
    return weights.to(value.dtype) @ expand(value, query.shape[1])  # [batch, heads, query, d_head]


def causal_in_pieces(query: Tensor, key: Tensor, value: Tensor, scale: float | None = None, dropout: float = 0.0) -> Tensor:
    """Compute causal `softmax_attention` by quarters of the queries: the keys after each, 3 in 8 of all scores, are left out."""
    ends = [query.shape[2] * piece // 4 for piece in range(5)]
    return torch.cat(
        [
            softmax_attention(query[:, :, a:b], key[:, :, :b], value[:, :, :b], causal_mask(b - a, b), scale, None, dropout)
            for a, b in itertools.pairwise(ends)
        ],
        dim=2,
    )
