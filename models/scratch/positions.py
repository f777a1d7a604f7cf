"""Positions, the order of tokens. Attention alone sees a set, not a sequence; each class here puts the order back in.

A scheme may add to the embeddings, turn queries and keys, or add to the scores; the rest is inherited from `NoPositions`.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from models.scratch.config import TransformerConfig


class NoPositions(nn.Module):
    """No order at all: a decoder still has its causal mask to learn from (Haviv et al. 2022, "Transformer Language Models without
    Positional Encodings Still Learn Positional Information")."""

    def __init__(self, config: TransformerConfig, causal: bool):
        super().__init__()
        self.config, self.causal = config, causal
        if torch.get_default_device().type != "meta":  # on meta there are no numbers: `reset` is called later
            self.reset()

    def embed(self, x: Tensor, places: slice | Tensor) -> Tensor:
        """Add the order to embeddings [batch, position, d_model]. places: their positions, as a slice or as ints [position]."""
        return x

    def turn(self, x: Tensor, places: slice | Tensor) -> Tensor:
        """Turn queries or keys [batch, heads, position, d_head] by their positions; places: as for `embed`."""
        return x

    def bias(self, queries: int, keys: int) -> Tensor | None:
        """Return the bias for the scores of the last `queries` of `keys` positions: [heads, query, key]; None without one."""
        return None

    def reset(self) -> None:
        """Compute again the buffers that follow from the config and are not among the weights."""


class Sinusoidal(NoPositions):
    """Waves of rising length, added to the embeddings: PE[p, 2i] = sin(p / 10000^(2i / d)), PE[p, 2i + 1] = cos of the same.

    Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.5.
    """

    waves: Tensor

    def reset(self) -> None:
        self.register_buffer("waves", sinusoids(self.config.context, self.config.d_model), persistent=False)

    def embed(self, x: Tensor, places: slice | Tensor) -> Tensor:
        return x + self.waves[places].to(x.dtype)


class Learned(NoPositions):
    """A vector for each position, learned like those of the tokens and added to them (Gehring et al. 2017; GPT-2, BERT)."""

    def __init__(self, config: TransformerConfig, causal: bool):
        super().__init__(config, causal)
        self.embedding = nn.Embedding(config.context, config.d_model)

    def embed(self, x: Tensor, places: slice | Tensor) -> Tensor:
        return x + self.embedding.weight[places]


class Rotary(NoPositions):
    """Turns queries and keys by their positions, in pairs of dimensions, so that q·k depends only on the distance.

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", eq. 15.
    """

    turns: Tensor

    def reset(self) -> None:
        self.register_buffer("turns", rotary_turns(self.config.d_head, self.config.context), persistent=False)

    def turn(self, x: Tensor, places: slice | Tensor) -> Tensor:
        return rotate(x, self.turns[:, places])


class ALiBi(NoPositions):
    """Adds −slope × distance to the scores, with a slope for each head: near tokens count more, and no position is learned.

    The slopes of n heads are 2^(-8 (h + 1) / n) for h = 0, 1, …, n - 1 where n is a power of two; of other n, those of the next
    lower power and every second of the next higher one. In an encoder the distance counts to both sides.
    Source: Press, Smith and Lewis 2022, "Train Short, Test Long: Attention with Linear Biases".
    """

    slopes: Tensor

    def reset(self) -> None:
        self.register_buffer("slopes", alibi_slopes(self.config.heads), persistent=False)

    def bias(self, queries: int, keys: int) -> Tensor:
        return -self.slopes[:, None, None] * distances(queries, keys, self.slopes.device).abs()


class Relative(NoPositions):
    """A learned number for each head and each range of distances is added to the score, the same in every layer.

    Half of the ranges are single distances, the others grow with the logarithm up to 128; an encoder has half to each side.
    Source: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer", section 2.1.
    """

    BUCKETS, FURTHEST = 32, 128

    def __init__(self, config: TransformerConfig, causal: bool):
        super().__init__(config, causal)
        self.embedding = nn.Embedding(self.BUCKETS, config.heads)

    def bias(self, queries: int, keys: int) -> Tensor:
        distance = distances(queries, keys, self.embedding.weight.device)
        return self.embedding(relative_buckets(distance, self.causal, self.BUCKETS, self.FURTHEST)).permute(2, 0, 1)


def sinusoids(length: int, d_model: int) -> Tensor:
    """Return the waves of `Sinusoidal`: float32 [length, d_model], sines in even dimensions, cosines in odd ones."""
    frequency = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float32) / d_model)  # [d_model / 2, rounded up]
    angles = torch.arange(length, dtype=torch.float32)[:, None] * frequency  # [length, d_model / 2]
    return torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(-2)[:, :d_model]  # [length, d_model]


def rotary_turns(d_head: int, length: int, base: float = 10_000.0) -> Tensor:
    """Return cosine and sine of the angle by which each pair of dimensions is turned at each position.

    Pair i turns by position * base^(-2i / d_head) radians: the first pairs fast, the last ones slowly.
    Returns float32 [2, length, d_head / 2]: cosines, then sines. Errors: ValueError when d_head is odd.
    """
    if d_head % 2:
        raise ValueError(f"Rotary positions turn pairs of dimensions, so d_head must be even; it is {d_head}.")
    frequency = base ** (-torch.arange(0, d_head, 2, dtype=torch.float32) / d_head)  # [d_head / 2]
    angles = torch.arange(length, dtype=torch.float32)[:, None] * frequency  # [length, d_head / 2]
    return torch.stack([angles.cos(), angles.sin()])  # [2, length, d_head / 2]


def rotate(x: Tensor, turns: Tensor) -> Tensor:
    """Turn queries or keys [batch, heads, position, d_head] by turns [2, position, d_head / 2]; returns the shape of x.

    Dimension i is paired with dimension i + d_head / 2.
    """
    cos, sin = turns.to(x.dtype)  # each [position, d_head / 2]
    first, second = x.chunk(2, dim=-1)  # 2 x [batch, heads, position, d_head / 2]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)  # [batch, heads, position, d_head]


def alibi_slopes(heads: int) -> Tensor:
    """Return the cost of a step of distance in each head: float32 [heads]."""
    lower = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / lower) for i in range(lower)]
    slopes += [2 ** (-8 * (i + 1) / (2 * lower)) for i in range(0, 2 * (heads - lower), 2)]
    return torch.tensor(slopes)


def distances(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """Return key − query for queries at the last positions: int [query, key], negative for earlier keys."""
    last = torch.arange(keys - queries, keys, device=device)
    return torch.arange(keys, device=device)[None, :] - last[:, None]


def relative_buckets(distance: Tensor, causal: bool, buckets: int, furthest: int) -> Tensor:
    """Return the range that each distance key − query falls into: int of the same shape, from 0 to buckets - 1."""
    bucket = torch.zeros_like(distance)
    if not causal:
        buckets //= 2
        bucket = (distance > 0).long() * buckets
        distance = distance.abs()
    else:
        distance = (-distance).clamp(min=0)
    near = buckets // 2
    position_in_log = torch.log(distance.clamp(min=1).float() / near) / math.log(furthest / near) * (buckets - near)
    far = (near + position_in_log.long()).clamp(max=buckets - 1)
    return bucket + torch.where(distance < near, distance, far)


POSITIONS = {
    "none": NoPositions,
    "sinusoidal": Sinusoidal,
    "learned": Learned,
    "rotary": Rotary,
    "alibi": ALiBi,
    "relative": Relative,
}
