"""Two older scores of a query and a key, for comparison with the scaled dot product, which is in transformer.py."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.attention.kernel import attend, attend_by_weights
from models.attention.weight_formula import causal_mask, expand
from models.scratch.config import TransformerConfig


class Multiplicative(nn.Module):
    """qᵀ W k / temperature with a matrix W for each head, which begins as the scaled dot product, 1 / √d_head times the identity.

    Source: Luong, Pham and Manning 2015, "Effective Approaches to Attention-based Neural Machine Translation", eq. 8, "general".
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.temperature = config.temperature
        self.between = nn.Parameter(torch.eye(config.d_head).repeat(config.heads, 1, 1) * config.d_head**-0.5)

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
        scale = 1 / self.temperature
        return attend(query @ self.between, key, value, mask, scale=scale, bias=bias, future=future, dropout=dropout)


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
        """Arguments and result as in `Multiplicative`."""
        shared = expand(key, query.shape[1])  # [batch, heads, key, d_head]
        sums = torch.tanh(query[:, :, :, None] + shared[:, :, None])  # [batch, heads, query, key, d_head]
        scores = torch.einsum("bhqkd,hd->bhqk", sums, self.vector.to(sums.dtype)) / self.temperature
        scores = scores if bias is None else scores + bias
        if mask is None and not future:
            mask = causal_mask(query.shape[2], key.shape[2], scores.device)
        scores = scores if mask is None else scores.masked_fill(~mask, float("-inf"))
        return attend_by_weights(scores.softmax(-1), key, value, dropout)


SCORES = {"multiplicative": Multiplicative, "additive": Additive}
