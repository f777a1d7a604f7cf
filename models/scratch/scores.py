"""Scores of a query and a key. Transformers use the scaled dot product; the two older ways are here for comparison."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from models.attention.kernel import attend, attend_by_weights
from models.attention.weights_on_demand import causal_mask, expand
from models.scratch.config import TransformerConfig


class Dot(nn.Module):
    """q·k / (√d_head · temperature) (Vaswani et al. 2017, eq. 1)."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.scale = config.d_head**-0.5 / config.temperature

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        bias: Tensor | None,
        future: bool,
        dropout: float,
    ) -> Tensor:
        """query [batch, heads, query, d_head], key and value [batch, kv_heads, key, d_head]; mask, bias
        and future as in `attend`. Returns [batch, query, heads, d_head]."""
        return attend(query, key, value, mask, scale=self.scale, bias=bias, future=future, dropout=dropout)


class Multiplicative(Dot):
    """qᵀ W k / temperature with a matrix W for each head, which begins as the scaled dot product, 1 / √d_head times the identity.

    Source: Luong, Pham and Manning 2015, "Effective Approaches to Attention-based Neural Machine Translation", eq. 8, "general".
    """

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        self.scale = 1 / config.temperature
        self.between = nn.Parameter(torch.eye(config.d_head).repeat(config.heads, 1, 1) * config.d_head**-0.5)

    def forward(self, query: Tensor, *others: Any) -> Tensor:
        return super().forward(query @ self.between, *others)


class Additive(nn.Module):
    """wᵀ tanh(q + k) / temperature with a vector w for each head (Bahdanau, Cho and Bengio 2015, section A.1.2).

    It builds [batch, heads, query, key, d_head], so it is for short texts.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.temperature = config.temperature
        self.vector = nn.Parameter(torch.randn(config.heads, config.d_head) * config.d_head**-0.5)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        bias: Tensor | None,
        future: bool,
        dropout: float,
    ) -> Tensor:
        """Arguments and result as in `Dot`."""
        shared = expand(key, query.shape[1])  # [batch, heads, key, d_head]
        sums = torch.tanh(query[:, :, :, None] + shared[:, :, None])  # [batch, heads, query, key, d_head]
        scores = torch.einsum("bhqkd,hd->bhqk", sums, self.vector.to(sums.dtype)) / self.temperature
        scores = scores if bias is None else scores + bias
        if mask is None and not future:
            mask = causal_mask(query.shape[2], key.shape[2], scores.device)
        scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
        return attend_by_weights(scores.softmax(-1), key, value, dropout)


SCORES = {"dot": Dot, "multiplicative": Multiplicative, "additive": Additive}
