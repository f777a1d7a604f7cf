"""Norms, which keep the numbers in a transformer at one scale."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """x / √(mean(x²) + ε) · weight: the size goes, the mean stays.

    Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization".
    """

    def __init__(self, width: int, eps: float = torch.finfo(torch.float32).eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        """x: [..., width]. Returns the same shape."""
        return F.rms_norm(x, self.weight.shape, self.weight.to(x.dtype), self.eps)  # the fused kernel wants one type


class LayerNorm(nn.Module):
    """(x − mean) / √(variance + ε) · weight + bias (Ba, Kiros and Hinton 2016, "Layer Normalization")."""

    def __init__(self, width: int, eps: float = 1e-5):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(torch.ones(width)), nn.Parameter(torch.zeros(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        """x: [..., width]. Returns the same shape."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)


NORMS = {"rms": RMSNorm, "layer": LayerNorm}
