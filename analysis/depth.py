"""The gradients that reach each layer of a deep stack before its first step: with the norm before or after each part, and with
residuals or without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from models.scratch.config import TransformerConfig
from models.scratch.transformer import Block, Decoder
from models.training.layer_steps import norm
from models.training.live import SIZES, inputs
from models.training.optimisation import IGNORED, smoothed_loss
from models.training.tasks import repeat

LAYERS = 12
ROWS = 8  # examples
SEEDS = (0, 1, 2)
VARIANTS = tuple((place, residuals) for place in ("before", "after") for residuals in (True, False))
Report = Callable[[float, str], None]


class Bare(Block):
    """A block without residuals: each part's answer takes the place of the stream."""

    def add(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        return sublayer(norm(x)) if self.before else norm(sublayer(x))


def network_of(norm_place: str, residuals: bool, seed: int, layers: int = LAYERS) -> Decoder:
    """Build a decoder with fresh weights, as Xavier's initialisation draws them. norm_place: "before" each part or "after" it."""
    sizes: dict[str, Any] = SIZES | {"layers": layers, "norm_place": norm_place, "initialisation": "xavier"}
    torch.manual_seed(seed)
    network = Decoder(TransformerConfig(**sizes))
    if not residuals:
        for block in network.blocks:
            block.__class__ = Bare
    return network


def gradients(network: Decoder, seed: int) -> np.ndarray:
    """Return the norm of the loss's gradient for the weights of each layer, float64 [layer], on examples of the task “Repeat”."""
    ids, known = repeat().batch(np.random.default_rng(seed), ROWS)
    smoothed_loss(network(inputs(ids)), torch.from_numpy(np.where(known, ids, IGNORED))).backward()
    each = [[weight.grad for weight in block.parameters() if weight.grad is not None] for block in network.blocks]
    return np.array([norm(weights) for weights in each])


def gradients_by_depth(
    layers: int = LAYERS, seeds: Sequence[int] = SEEDS, report: Report | None = None
) -> dict[tuple[str, bool], np.ndarray]:
    """Return the norms for each place of the norm, with residuals and without: float64 [seed, layer]."""
    values = {}
    for number, (place, residuals) in enumerate(VARIANTS):
        if report is not None:
            report(number / len(VARIANTS), f"The norm {place} each part, {'with' if residuals else 'without'} residuals")
        values[place, residuals] = np.stack([gradients(network_of(place, residuals, seed, layers), seed) for seed in seeds])
    return values
