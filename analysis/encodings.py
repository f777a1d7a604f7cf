"""Position encodings in numbers: the values for each position, and how they depend on the distance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from models.scratch.config import TransformerConfig


@dataclass(frozen=True, eq=False)
class Encoding:
    """The numbers of a position encoding. values: [position, dimension], the values for each position, or [head, steps back], the
    numbers added to scores (`down` and `across` name the axes); by_distance: curves over `distances`, by name; wavelengths:
    [pair], the tokens until a pair of dimensions has turned once. None or empty if a scheme has no such numbers."""

    values: np.ndarray | None = None
    title: str = ""
    across: str = "dimension"
    distances: np.ndarray = field(default_factory=lambda: np.zeros(0))
    by_distance: dict[str, np.ndarray] = field(default_factory=dict)
    says: str = ""
    unit: str = ""
    wavelengths: np.ndarray | None = None
    down: str = "position"


def encoding(config: TransformerConfig, length: int) -> Encoding:
    """Return the encoding of a config over `length` positions. Learned values are those before training.

    Dot products by distance: for added encodings, the mean of PE[p]·PE[p + Δ] over the positions p; for rotary ones, Σ cos(Δ θ_i)
    over the pairs divided by their number, which is q·k for q = k with all pairs alike (Su et al. 2021, section 3.4.3).
    """
    import torch

    from models.scratch.positions import POSITIONS

    torch.manual_seed(0)
    scheme: Any = POSITIONS[config.positions](config, causal=config.kind == "decoder")
    distances = np.arange(length)
    if config.positions in ("sinusoidal", "learned"):
        with torch.inference_mode():
            values = scheme.embed(torch.zeros(1, length, config.d_model), slice(length))[0].numpy()
        products = values @ values.T
        mean = np.array([np.diagonal(products, step).mean() for step in distances])
        waves = 2 * np.pi * 10_000.0 ** (np.arange(0, config.d_model, 2) / config.d_model)
        return Encoding(
            values,
            f"{config.positions.capitalize()} positions",
            "dimension",
            distances,
            {"PE · PE": mean},
            "Dot product of two positions",
            "mean",
            waves if config.positions == "sinusoidal" else None,
        )
    if config.positions == "rotary":
        cos = scheme.turns[0, :length].numpy()
        angles = 10_000.0 ** (-np.arange(0, config.d_head, 2) / config.d_head)
        return Encoding(
            cos,
            "Cosine of the angle each pair is turned by",
            "pair of dimensions",
            distances,
            {"q·k": cos.mean(-1)},
            "q·k of equal vectors, turned",
            "share of q·k unturned",
            2 * np.pi / angles,
        )
    if config.positions in ("alibi", "relative"):
        with torch.inference_mode():
            row = scheme.bias(1, length)[:, 0].numpy()[:, ::-1]  # [head, steps back]
        title = "Added to the score" if config.positions == "alibi" else "Added to the score, before training"
        some_heads = sorted({0, config.heads // 3, 2 * config.heads // 3, config.heads - 1})
        by_head = {f"H{head}": row[head] for head in some_heads}
        return Encoding(row, title, "steps back", distances, by_head, title, "added to the score", down="head")
    return Encoding()
