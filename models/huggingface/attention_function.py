"""The attention function that Hugging Face models call, by its name in transformers.

Most architectures of transformers 5 look their attention function up by name; ours runs the fused kernel and keeps references.
The softmax of the others is recorded by `softmax_tap.py`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

from models.attention.recorded_call import Call
from models.attention.recorder import active
from models.attention.weight_formula import causal_mask, expand, first_row, scores, weights
from models.errors import ModelError

# transformers looks for "sdpa", "flash" and "flex_attention" inside the name, and then refuses some architectures.
NAME = "headlight"
# What single architectures ask of an attention function besides, and what that means.
UNKNOWN = {
    "block_indices": "chooses blocks of the text to look at",
    "sinks": "has sinks that change from position to position",
}


def headlight_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    dropout: float = 0.0,
    scaling: float | None = None,
    is_causal: bool | None = None,
    position_bias: Tensor | None = None,
    softcap: float | None = None,
    s_aux: Tensor | None = None,
    indices: Tensor | None = None,
    **kwargs: Any,
) -> tuple[Tensor, None]:
    """Compute attention as transformers asks for it (`AttentionInterface`), and record it while a recorder is active.

    query [batch, heads, query, d_head]; key and value [batch, kv_heads, key, d_head]; position_bias, softcap and s_aux (sinks) as
    in `Call`; indices [batch, query, chosen]: the only keys that a query may look at (DeepSeek-V3.2, DeepSeek-AI
    2025). Returns [batch, query, heads, d_head] and None. Errors: ModelError for what is asked for besides.
    """
    if strange := next((name for name in UNKNOWN if kwargs.get(name) is not None), None):
        raise ModelError(
            f"{type(module).__name__} {UNKNOWN[strange]}, which Headlight cannot show. Choose a model of another architecture."
        )
    record = active()
    if indices is not None:
        attention_mask = _mask_of_indices(indices, attention_mask, query.shape[2], key.shape[2])
    causal = getattr(module, "is_causal", True) if is_causal is None else is_causal
    causal = bool(causal) and attention_mask is None and query.shape[2] > 1
    scale = query.shape[-1] ** -0.5 if scaling is None else scaling
    if softcap is None and s_aux is None:
        plain = partial(
            _attend_fused, module, query, key, value, attention_mask, dropout, scaling, is_causal, position_bias, kwargs
        )
    else:  # the kernel knows neither
        plain = partial(_attend_eagerly, query, key, value, attention_mask, causal, scale, position_bias, softcap, s_aux)
    if record is not None and record.plan is not None:
        arguments = query, key, value, attention_mask, causal, scale, position_bias, softcap, s_aux
        return record.plan.attend(record, plain, *arguments), None
    if record is not None and record.beside is not None:
        record.beside.check(position_bias is None and indices is None)
        each = partial(_attend_causally, module, dropout, scaling, scale, softcap, s_aux, kwargs)
        return record.beside.attend(query, key, value, each, scale=scale, softcap=softcap, sinks=s_aux), None
    out = plain()
    if record is not None:
        mask, bias = first_row(attention_mask), first_row(position_bias)
        mask = mask if mask is None else mask[..., : key.shape[2]]
        call = Call(query[0], key[0], value[0], mask, causal, scale, out[0], bias=bias, softcap=softcap, sinks=s_aux)
        record.keep(call, out)
    return out, None


def _attend_causally(
    module: torch.nn.Module,
    dropout: float,
    scaling: float | None,
    scale: float,
    softcap: float | None,
    sinks: Tensor | None,
    others: dict[str, Any],
    query: Tensor,
    key: Tensor,
    value: Tensor,
) -> Tensor:
    """Compute attention of the last positions of a text, each over all keys up to its own: [batch, query, heads, d_head]."""
    queries, keys = query.shape[2], key.shape[2]
    if softcap is not None or sinks is not None:
        return _attend_eagerly(query, key, value, None, True, scale, None, softcap, sinks)
    mask = causal_mask(queries, keys, query.device)[None, None] if 1 < queries < keys else None
    return _attend_fused(module, query, key, value, mask, dropout, scaling, None, None, dict(others))


def _attend_fused(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float,
    scaling: float | None,
    is_causal: bool | None,
    position_bias: Tensor | None,
    others: dict[str, Any],
) -> Tensor:
    """Compute attention by the fused kernel: [batch, query, heads, d_head]."""
    others.pop("output_attentions", None)  # the kernel would warn that it has none
    return sdpa_attention_forward(
        module,
        query,
        key,
        value,
        mask,
        dropout=dropout,
        scaling=scaling,
        is_causal=is_causal,
        position_bias=position_bias,
        **others,
    )[0]


def _attend_eagerly(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    scale: float,
    position_bias: Tensor | None,
    softcap: float | None,
    sinks: Tensor | None,
) -> Tensor:
    """Compute attention by the matrix of weights: [batch, query, heads, d_head]."""
    head_scores = scores(query, expand(key, query.shape[1]), scale, position_bias, softcap)
    head_weights = weights(head_scores, mask, causal, sinks)
    return (head_weights.to(value.dtype) @ expand(value, query.shape[1])).transpose(1, 2).contiguous()


def _mask_of_indices(indices: Tensor, mask: Tensor | None, queries: int, keys: int) -> Tensor:
    """Return the mask [batch, heads or 1, query, key] that closes all keys but the chosen ones."""
    chosen = torch.zeros(*indices.shape[:2], keys, dtype=torch.bool, device=indices.device).scatter(-1, indices.long(), True)[
        :, None
    ]
    mask = causal_mask(queries, keys, indices.device) if mask is None else mask
    return mask & chosen if mask.dtype == torch.bool else mask.masked_fill(~chosen, torch.finfo(mask.dtype).min)


AttentionInterface.register(NAME, headlight_attention)
AttentionMaskInterface.register(NAME, sdpa_mask)  # without it padding and sliding windows are lost without a word
