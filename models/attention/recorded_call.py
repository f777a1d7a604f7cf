"""One recorded call of an attention function, from which its weights are computed on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from models.attention.weight_formula import expand, rows_from, scores, weights
from models.edits import Edit, Temperature


@dataclass(slots=True)
class Call:
    """One call of an attention function, batch row 0 kept by reference.

    query [heads, query, d_head], key and value [kv_heads, key, d_head] (after positions were applied),
    mask [heads or 1, query, key] (bool: True = may look; float: added to the scores) or None, out [query, heads, d_head]
    before the output projection. bias [heads or 1, query, key] is added to the scores (T5, Raffel et al. 2020); softcap c
    bends them to c·tanh(s / c) (Gemma 2, Gemma Team 2024); sinks [heads] join the softmax as one more key that contributes
    nothing (GPT-OSS, OpenAI 2025).
    given [heads, query, key]: weights that were not computed from q·k. The query is then None, so that nobody computes weights
    from it; so are key and value in a model that does not expose them.
    edited [heads, query, key]: the weights after edits, where they differ from those of q·k. edits: the edits made in this call.
    last_products [kv_heads, key, group]: q·k of the last query, where only its row is wanted and q·k alone decides it.
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
        """The keys and values from which the text can be continued, each [kv_heads, key, d_head]; only for a model that exposes
        them.
        """
        assert self.key is not None and self.value is not None, "a model that hides them is not read on from what was recorded"
        return self.key, self.value

    def expanded(self, name: str) -> Tensor:
        """Return "key" or "value" repeated for each query head (grouped-query attention shares them): [heads, key, d_head]."""
        return expand(getattr(self, name), self.shape[0])

    def scores(self, first: int = 0) -> Tensor:
        """Return the scores before mask and softmax for the queries from `first` on, divided by a head's edited temperature:
        float32 [heads, query, key]."""
        assert self.query is not None, "weights that are given have no scores"
        head_scores = scores(self.query[:, first:], self.expanded("key"), self.scale, rows_from(self.bias, first), self.softcap)
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
        return weights(self.scores(first), rows_from(self.mask, first), self.causal, self.sinks)

    def tensors(self) -> list[Tensor]:
        """Return the tensors that the call keeps alive, apart from masks, which layers share."""
        return [tensor for tensor in (self.query, self.key, self.value, self.out, self.given, self.edited) if tensor is not None]


def last_rows(calls: Sequence[Call]) -> Tensor | None:
    """Return the weights of the last query in each call, by one softmax for all: float32 [layers, heads, key]. None where a call
    has no `last_products`, or the calls differ in shape or scale."""
    products = [call.last_products for call in calls if call.last_products is not None and call.scale == calls[0].scale]
    if len(products) < len(calls) or len({(product.shape, product.device) for product in products}) > 1:
        return None
    row_scores = torch.stack(products).mT.flatten(1, 2).mul_(calls[0].scale)  # [layers, heads, key]
    return torch.softmax(row_scores, -1, out=row_scores)
