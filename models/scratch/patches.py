"""The embedding of an image: each patch becomes a vector of the residual stream, behind one learned vector, [CLS].

Source: Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", section 3.1.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.scratch.config import TransformerConfig


class PatchEmbedding(nn.Module):
    """Maps the pixels of each patch into the stream by one linear map. At the first position, a learned vector stands instead."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.projection = nn.Linear(config.channels * config.patch**2, config.d_model, bias=config.bias)
        self.first = nn.Parameter(torch.empty(config.d_model))
        nn.init.normal_(self.first, std=0.02)

    @property
    def weight(self) -> Tensor:
        return self.projection.weight

    def forward(self, pixels: Tensor) -> Tensor:
        """pixels: [batch, position, channels · patch²]; those at the first position are not used. Returns [batch, position,
        d_model]."""
        first = self.first.expand(len(pixels), 1, -1)
        return torch.cat([first, self.projection(pixels[:, 1:])], dim=1)
