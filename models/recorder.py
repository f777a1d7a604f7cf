"""The record of attention that every model leaves behind while it reads, and our own attention function.

The output of attention comes from PyTorch's fused kernel, which never builds the matrix of weights; when a recorder is
active in the calling context it keeps references to query, key and value, from which the weights of the layer on screen
are computed on demand. Hugging Face models come in through `models.huggingface.attention`, by the same `keep`.
"""

from __future__ import annotations

import contextlib
import contextvars
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor

from models.edits import Edit, Temperature

if TYPE_CHECKING:
    from models.editing import Plan
    from models.side_by_side import SideBySide

_active: contextvars.ContextVar[Record | None] = contextvars.ContextVar("headlight_record", default=None)
PIECE = 16  # queries: the smallest quarter that a text is cut into


@dataclass(slots=True)
class Call:
    """One call of an attention function, batch row 0 kept by reference.

    query [heads, query, d_head], key and value [kv_heads, key, d_head] (after positions were applied),
    mask [heads or 1, query, key] (bool: True = may look; float: added to the scores) or None, out [query, heads, d_head]
    before the output projection. bias [heads or 1, query, key] is added to the scores (T5, Raffel et al. 2020); softcap c
    bends them to c·tanh(s / c) (Gemma 2, Gemma Team 2024); sinks [heads] join the softmax as one more key that brings nothing
    (GPT-OSS, OpenAI 2025).
    given [heads, query, key]: weights that came from elsewhere than q·k. The query is None then, so that nobody computes weights
    from it; key and value too, in a model that does not show them.
    edited [heads, query, key]: the weights as edits left them, where they differ from those of q·k. edits: those made here.
    last_products [kv_heads, key, group]: q·k of the last query, where only its row is wanted and nothing else decides it.
    """

    query: Tensor | None
    key: Tensor | None
    value: Tensor | None
    mask: Tensor | None = None
    causal: bool = False
    scale: float = 1.0
    out: Tensor | None = None
    bias: Tensor | None = None
    softcap: float | None = None
    sinks: Tensor | None = None
    given: Tensor | None = None
    edited: Tensor | None = None
    edits: tuple[Edit, ...] = ()
    last_products: Tensor | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of heads, queries and keys."""
        if self.given is not None:
            heads, queries, keys = self.given.shape
            return heads, queries, keys
        if self.query is None or self.key is None:
            raise ValueError("a call has neither weights nor the queries and keys to calculate them from")
        return self.query.shape[0], self.query.shape[1], self.key.shape[1]

    def multiply_last(self) -> None:
        """Multiply the last query with the keys now, while both are at hand, unless more than q·k decides its weights."""
        others = self.mask, self.bias, self.softcap, self.sinks, self.given, self.edited
        if self.query is None or self.key is None or any(other is not None for other in others):
            return
        shared = self.query[:, -1].float().reshape(self.key.shape[0], -1, self.key.shape[2])  # [kv_heads, group, d_head]
        self.last_products = torch.bmm(self.key.float(), shared.mT)

    @property
    def keys_and_values(self) -> tuple[Tensor, Tensor]:
        """The keys and values that the text is read on from, each [kv_heads, key, d_head]; only of a model that shows them."""
        assert self.key is not None and self.value is not None, "a model that hides them is not read on from what was recorded"
        return self.key, self.value

    def expanded(self, name: str) -> Tensor:
        """Return "key" or "value" repeated for each query head (grouped-query attention shares them): [heads, key, d_head]."""
        return expand(getattr(self, name), self.shape[0])

    def scores(self, first: int = 0) -> Tensor:
        """Return the scores before mask and softmax for the queries from `first` on, divided by a head's edited temperature:
        float32 [heads, query, key]."""
        assert self.query is not None, "weights that are given have no scores"
        head_scores = scores(self.query[:, first:], self.expanded("key"), self.scale, _rows(self.bias, first), self.softcap)
        temperatures = [edit for edit in self.edits if isinstance(edit, Temperature)]
        if temperatures:
            factor = torch.ones(len(head_scores), 1, 1, device=head_scores.device)
            for edit in temperatures:
                factor[edit.head] *= edit.value
            head_scores = head_scores / factor
        return head_scores

    def weights(self, first: int = 0) -> Tensor:
        """Return the weights of the queries from `first` on: float32 [heads, query, key]; zeros for a query without a key."""
        if self.given is not None:
            return self.given[:, first:].float()
        if self.edited is not None:
            return self.edited[:, first:].float()
        return weights(self.scores(first), _rows(self.mask, first), self.causal, self.sinks)

    def tensors(self) -> list[Tensor]:
        """Return the tensors that the call keeps alive, apart from masks, which layers share."""
        return [tensor for tensor in (self.query, self.key, self.value, self.out, self.given, self.edited) if tensor is not None]


@dataclass(slots=True)
class Record:
    """The record of one forward pass: attention calls in order, and the residual stream of each stack of blocks.

    hidden: [position, d_model] after the embedding, then after each block, under "self" (or "encoder" and "decoder").
    outs: the output of each call, with its batch dimension, where gradients are wanted: a part of the graph, which begins at the
    first of them. streams: whether the residual stream is wanted; without it a batch may be read. last: whether only the rows of
    the last query are wanted (see `Call.last_products`).
    plan: the edits of the pass, if any (see `models.editing`). Then `rows` holds the calls, a list for each call with one entry
    for each row of the batch, and hidden is [batch, position, d_model].
    beside: the texts of the pass, if there are several (see `models.side_by_side`), which then keeps the calls.
    """

    calls: list[Call] = field(default_factory=list)
    hidden: dict[str, list[Tensor]] = field(default_factory=dict)
    outs: list[Tensor] | None = None
    streams: bool = True
    last: bool = False
    plan: Plan | None = None
    beside: SideBySide | None = None
    rows: list[list[Call]] = field(default_factory=list)

    def keep(self, call: Call, out: Tensor) -> None:
        """Keep a call; out: the tensor that the network continues with, the heads' outputs or else the weights themselves."""
        self.calls.append(call)
        if self.last:
            token = _active.set(None)  # only what the model itself computes is recorded
            call.multiply_last()
            _active.reset(token)
        if self.outs is not None:
            if not out.requires_grad:
                out.requires_grad_()
            self.outs.append(out)


@contextlib.contextmanager
def recording(
    outs: bool = False,
    streams: bool = True,
    plan: Plan | None = None,
    last: bool = False,
    beside: SideBySide | None = None,
) -> Iterator[Record]:
    """Record every forward pass made inside the `with` block, in this thread and context only. For the arguments see `Record`."""
    record = Record(outs=[] if outs else None, streams=streams, plan=plan, last=last, beside=beside)
    token = _active.set(record)
    try:
        yield record
    finally:
        _active.reset(token)


def active() -> Record | None:
    """Return the record that is being written in this context, or None."""
    return None if torch.compiler.is_compiling() else _active.get()


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
    may look. Without one, all keys with `future`, else causal: query i is the i-th last position and looks at every key up to
    its own. bias: float, added to the scores, broadcastable in the same way. scale: defaults to 1 / sqrt(d_head).
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


def note_hidden(x: Tensor, stack: str = "self") -> Tensor:
    """Keep the residual stream x [batch, position, d_model] of a stack of blocks when a recorder is active.

    Returns the input of the next block: x, unless it is edited.
    """
    if (record := active()) is not None:
        if record.plan is not None:
            return record.plan.pass_on(record, stack, x)
        if record.streams:
            record.hidden.setdefault(stack, []).append(x[0])
    return x


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

    mask: bool (True = may look) or float (added); causal counts when there is none. sinks [heads]: one more score for each query,
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


def last_rows(calls: Sequence[Call]) -> Tensor | None:
    """Return the weights of the last query in each call, by one softmax for all: float32 [layers, heads, key]. None where a call
    has no `last_products`, or the calls differ in shape or scale."""
    products = [call.last_products for call in calls if call.last_products is not None and call.scale == calls[0].scale]
    if len(products) < len(calls) or len({(product.shape, product.device) for product in products}) > 1:
        return None
    row_scores = torch.stack(products).mT.flatten(1, 2).mul_(calls[0].scale)  # [layers, heads, key]
    return torch.softmax(row_scores, -1, out=row_scores)


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


def _rows(mask: Tensor | None, first: int) -> Tensor | None:
    """Return the rows of a mask or bias for the queries from `first` on; a single row is for all of them."""
    return mask if mask is None or mask.shape[-2] == 1 else mask[..., first:, :]
