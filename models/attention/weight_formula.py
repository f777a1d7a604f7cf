"""Scores and weights of attention, written out: computed on demand from recorded queries and keys."""

from __future__ import annotations

import torch
from torch import Tensor


def scores(query: Tensor, key: Tensor, scale: float, bias: Tensor | None = None, softcap: float | None = None) -> Tensor:
    """Return q·k · scale, bent to ±softcap, plus the bias: float32 [..., heads, query, key]. query and key have equal heads."""
    # In float32, as the fused kernel adds them up: in 16 bits the weights would be up to 0.005 off.
    # In place: at 1,024 tokens each copy is 50 MB.
    products = (query.float() @ key.float().transpose(-1, -2)).mul_(scale)
    if softcap is not None:
        products = products.div_(softcap).tanh_()
        products = products * softcap if products.requires_grad else products.mul_(softcap)
    return products if bias is None else products.add_(bias.float())


def weights(scores: Tensor, mask: Tensor | None, causal: bool, sinks: Tensor | None = None) -> Tensor:
    """Return the softmax of scores [..., heads, query, key] over the allowed keys; zeros where none is. Overwrites the scores.

    mask: bool (True = may look) or float (added); without a mask, `causal` decides. sinks [heads]: one more score for each query,
    whose share no key gets.
    """
    if mask is None and causal and scores.shape[-2] > 1:  # the last token sees all
        mask = causal_mask(scores.shape[-2], scores.shape[-1], scores.device)
    if mask is not None:
        scores = scores.masked_fill_(~mask, float("-inf")) if mask.dtype == torch.bool else scores.add_(mask.float())
    if sinks is None:
        probabilities = scores.softmax(-1) if scores.requires_grad else torch.softmax(scores, -1, out=scores)
    else:
        sink = sinks.float()[:, None, None].expand(*scores.shape[:-1], 1)
        probabilities = torch.cat([scores, sink], -1).softmax(-1)[..., :-1]
    if mask is not None and mask.dtype == torch.bool and not bool(mask.any(-1).all()):
        probabilities = probabilities.masked_fill(~mask.any(-1, keepdim=True), 0.0)
    return probabilities


def causal_mask(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """Return a mask, bool [queries, keys]: the queries are the last positions, and each sees the keys up to its own."""
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def expand(shared: Tensor, heads: int) -> Tensor:
    """Repeat keys or values [..., kv_heads, key, d_head] so that each query head has its own: [..., heads, key, d_head]."""
    return shared if shared.shape[-3] == heads else shared.repeat_interleave(heads // shared.shape[-3], dim=-3)


def first_row(batched: Tensor | None) -> Tensor | None:
    """Return batch row 0 of a mask or bias [batch, heads or 1, query, key], which may lack the batch, and the heads too."""
    if batched is None or batched.dim() == 3:
        return batched
    return batched[0] if batched.dim() == 4 else batched[None]


def row_of(batched: Tensor | None, row: int) -> Tensor | None:
    """Return one batch row of a mask or bias, as `first_row` does for row 0; all rows may share one."""
    if batched is None or batched.dim() < 4:
        return first_row(batched)
    return batched[row if len(batched) > 1 else 0]


def rows_from(mask: Tensor | None, first: int) -> Tensor | None:
    """Return the rows of a mask or bias for the queries from `first` on; a single row is for all of them."""
    return mask if mask is None or mask.shape[-2] == 1 else mask[..., first:, :]
