"""Destroys what a network has learned but keeps the size of its numbers, by shuffling them."""

from __future__ import annotations

import torch
from torch import nn


def shuffle(network: nn.Module, seed: int) -> None:
    """Put the numbers of each matrix of a network into a random order, in place. Vectors, such as the scales of norms, stay."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for matrix in network.parameters():
            if matrix.dim() > 1:
                order = torch.randperm(matrix.numel(), generator=generator).to(matrix.device)
                matrix.copy_(matrix.flatten()[order].view_as(matrix))
