"""How a model knows the order of its tokens.

Attention alone sees a set, not a sequence; each function here puts the order back in.
"""

import torch
from torch import Tensor


def rotary_turns(d_head: int, length: int, base: float = 10_000.0) -> Tensor:
    """Cosine and sine of the angle by which each pair of dimensions is turned at each position.

    Pair i turns by position * base^(-2i / d_head) radians: the first pairs fast, the last ones slowly.

    Returns float32 [2, length, d_head / 2]: cosines, then sines. Errors: ValueError when d_head is odd.

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", eq. 15.
    """
    if d_head % 2:
        raise ValueError(f"Rotary positions turn pairs of dimensions, so d_head must be even; it is {d_head}.")
    frequency = base ** (-torch.arange(0, d_head, 2, dtype=torch.float32) / d_head)  # [d_head / 2]
    angles = torch.arange(length, dtype=torch.float32)[:, None] * frequency  # [length, d_head / 2]
    return torch.stack([angles.cos(), angles.sin()])  # [2, length, d_head / 2]


def rotate(x: Tensor, turns: Tensor) -> Tensor:
    """Turn queries or keys by their position, so that q·k depends only on the distance between them.

    Dimension i is paired with dimension i + d_head / 2.

    x: [batch, heads, position, d_head]; turns: [2, position, d_head / 2]. Returns the shape of x.
    """
    cos, sin = turns.to(x.dtype)  # each [position, d_head / 2]
    first, second = x.chunk(2, dim=-1)  # 2 x [batch, heads, position, d_head / 2]
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)  # [batch, heads, position, d_head]
