"""Approximate attention without the matrix of all pairs: its cost grows with the length of the text, not with its square.

`error` measures how far the result is from exact attention.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.attention.kernel import attend_by_weights
from models.attention.recorder import active
from models.attention.weight_formula import causal_mask, expand
from models.scratch.config import TransformerConfig

TINY = 1e-300  # the least value of a sum of features


class Performer(nn.Module):
    """softmax by random features: exp(q·k) = E[φ(q)·φ(k)], so that φ(Q) (φ(K)ᵀ V) never builds the n x n matrix.

    φ(x) = exp(w·x − ‖x‖² / 2) / √m for m random w, drawn orthogonal in blocks; x is divided by d_head^¼ first, and by the root of
    the temperature. Features are float64, as their exponents range widely. No weight is dropped: there are none. A decoder
    keeps a sum [features, d_head] for each position.
    Source: Choromanski et al. 2021, "Rethinking Attention with Performers" (FAVOR+, positive features).
    """

    directions: Tensor

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.scale = (config.d_head**-0.5 / config.temperature) ** 0.5
        self.register_buffer("directions", random_directions(config.features, config.d_head), persistent=True)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, future: bool) -> Tensor:
        """Shapes as in `attend`; mask: padding only [batch, 1, 1, key]. Returns [batch, query, heads, d_head]."""
        key, value = expand(key, query.shape[1]), expand(value, query.shape[1])
        query_features, key_features = self.exponents(query), self.exponents(key).exp()  # [batch, heads, query or key, features]
        # A factor of each query cancels. One for all keys would too, but it would leak later keys to earlier queries.
        query_features = (query_features - query_features.amax(-1, keepdim=True)).exp()
        if mask is not None:
            key_features = key_features * mask.transpose(-1, -2)
        if active() is not None or (not future and query.shape[2] != key.shape[2]):  # recorded: then the matrix is built
            pairs = query_features @ key_features.transpose(-1, -2)  # [batch, heads, query, key]
            pairs = pairs if future else pairs * causal_mask(query.shape[2], key.shape[2], pairs.device)
            return attend_by_weights(pairs / pairs.sum(-1, keepdim=True).clamp(min=TINY), key, value)
        total = key_features.sum(-2, keepdim=True) if future else key_features.cumsum(2)  # [batch, heads, 1 or key, features]
        if future:
            sums_of_values = query_features @ (
                key_features.transpose(-1, -2) @ value.to(key_features.dtype)
            )  # [batch, heads, query, d_head]
        else:
            prefix_sums = torch.einsum("bhkm,bhkd->bhkmd", key_features, value.to(key_features.dtype)).cumsum(
                2
            )  # [.., key, features, d_head]
            sums_of_values = torch.einsum("bhqm,bhqmd->bhqd", query_features, prefix_sums)  # [batch, heads, query, d_head]
        out = sums_of_values / (query_features * total).sum(-1, keepdim=True).clamp(min=TINY)
        return out.to(value.dtype).transpose(1, 2)

    def exponents(self, x: Tensor) -> Tensor:
        """Return log φ(x), but for log √m, which cancels: [..., d_head] to float64 [..., features]."""
        x = x.double() * self.scale
        return x @ self.directions.double().T - x.square().sum(-1, keepdim=True) / 2


class Linformer(nn.Module):
    """Attention to a few slots, mixed from keys and values along the text: softmax(q (E K)ᵀ · scale) (E V), E [slots, context].

    It mixes the future in, so it is for encoders. E begins as means of equal stretches of the text and is learned; keys and
    values share it, as do the heads. A row of E counts in shares of its sum of sizes over the text; a slot that has none is left
    out. So weights add up to 1 as long as no entry of E is below 0. No weight is dropped.
    Source: Wang et al. 2020, "Linformer: Self-Attention with Linear Complexity".
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.scale = config.d_head**-0.5 / config.temperature
        slots = min(config.features, config.context)
        stretch = torch.arange(config.context) * slots // config.context  # which slot each position begins in
        self.mixing = nn.Parameter((stretch[None, :] == torch.arange(slots)[:, None]).float())

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, future: bool) -> Tensor:
        """Shapes as in `attend`; mask: padding only [batch, 1, 1, key]. Returns [batch, query, heads, d_head]."""
        key, value = expand(key, query.shape[1]), expand(value, query.shape[1])
        mixing = self.mixing[:, : key.shape[2]] if mask is None else self.mixing[:, : key.shape[2]] * mask  # [.., slots, key]
        total = mixing.abs().sum(-1, keepdim=True)  # [.., slots, 1]
        used = total > 1e-6  # a short text leaves slots empty
        mixing = mixing / torch.where(used, total, 1.0)
        scores = (query @ (mixing @ key).transpose(-1, -2)) * self.scale  # [batch, heads, query, slots]
        slots = scores.masked_fill(~used.transpose(-1, -2), float("-inf")).softmax(-1)
        if active() is not None:
            return attend_by_weights(slots @ mixing, key, value)  # the same product, in the order that shows the weights
        return (slots @ (mixing @ value)).transpose(1, 2)


def random_directions(features: int, d_head: int, seed: int = 0) -> Tensor:
    """Return random directions [features, d_head], orthogonal within each d_head of them, with the lengths of normal vectors."""
    generator = torch.Generator().manual_seed(seed)
    square, upper = torch.linalg.qr(torch.randn(-(-features // d_head), d_head, d_head, generator=generator))
    square = square * upper.diagonal(dim1=1, dim2=2).sign()[:, None]  # every direction alike: QR by itself prefers some
    lengths = torch.randn(features, d_head, generator=generator).norm(dim=-1, keepdim=True)
    return square.flatten(0, 1)[:features] * lengths


def error(cheap: Tensor, exact: Tensor) -> float:
    """Return the relative error of an output: ‖cheap − exact‖ / ‖exact‖."""
    return ((cheap - exact).norm() / exact.norm()).item()


CHEAPER = {"performer": Performer, "linformer": Linformer}
