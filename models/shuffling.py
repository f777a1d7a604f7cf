"""A network in which nothing was learned, as large in its numbers as the one it is made of."""

from __future__ import annotations

import torch
from torch import nn


def shuffle(network: nn.Module, seed: int) -> None:
    """Put the numbers of each matrix of a network into a random order, in place. Vectors stay: of norms they are scales."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for one in network.parameters():
            if one.dim() > 1:
                order = torch.randperm(one.numel(), generator=generator).to(one.device)
                one.copy_(one.flatten()[order].view_as(one))
