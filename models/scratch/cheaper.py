"""Attention without the matrix of all pairs: the cost grows with the length of the text, not with its square, at an error.

`error` says how far off such attention is from the exact one.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from models.recorder import active, attend_by_weights, causal_mask, expand
from models.scratch.config import TransformerConfig


class Performer(nn.Module):
    """softmax by random features: exp(q·k) = E[φ(q)·φ(k)], so that φ(Q) (φ(K)ᵀ V) never builds the n x n matrix.

    φ(x) = exp(w·x − ‖x‖² / 2) / √m for m random w, drawn orthogonal in blocks; x is divided by d_head^¼ first.
    Source: Choromanski et al. 2021, "Rethinking Attention with Performers" (FAVOR+, positive features).
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.scale = (config.d_head**-0.5 / config.temperature) ** 0.5
        self.register_buffer("directions", random_directions(config.features, config.d_head), persistent=True)

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, future: bool) -> Tensor:
        """Shapes as in `attend`; mask: padding only [batch, 1, 1, key]. Returns [batch, query, heads, d_head]."""
        key, value = expand(key, query.shape[1]), expand(value, query.shape[1])
        asked, met = self.features(query), self.features(key)  # [batch, heads, query or key, features]
        if mask is not None:
            met = met * mask.transpose(-1, -2)
        if active() is not None or (not future and query.shape[2] != key.shape[2]):  # somebody looks: then the matrix is built
            pairs = asked @ met.transpose(-1, -2)  # [batch, heads, query, key]
            pairs = pairs if future else pairs * causal_mask(*pairs.shape[-2:], pairs.device)
            return attend_by_weights(pairs / pairs.sum(-1, keepdim=True), value)
        if future:
            brought, total = met.transpose(-1, -2) @ value, met.sum(-2)  # [.., features, d_head], [.., features]
            out = (asked @ brought) / (asked * total[:, :, None]).sum(-1, keepdim=True)
        else:
            brought = torch.einsum("bhkm,bhkd->bhkmd", met, value).cumsum(2)  # [batch, heads, key, features, d_head]
            out = torch.einsum("bhqm,bhqmd->bhqd", asked, brought) / (asked * met.cumsum(2)).sum(-1, keepdim=True)
        return out.transpose(1, 2)

    def features(self, x: Tensor) -> Tensor:
        """φ(x): [..., d_head] to [..., features], all above 0."""
        x = x.float() * self.scale
        along = x @ self.directions.T
        # What all features of all positions share cancels when rows are divided by their sum.
        return torch.exp(along - x.square().sum(-1, keepdim=True) / 2 - along.amax((-1, -2), keepdim=True).detach()) + 1e-6


class Linformer(nn.Module):
    """Keys and values are mixed along the text into a few slots first: softmax(q (E K)ᵀ · scale) (E V), E [slots, context].

    It mixes the future in, so it is for encoders. E begins as means of equal stretches of the text and is learned; keys and
    values share it, as do the heads.
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
        total = mixing.sum(-1, keepdim=True)
        used = total.abs() > 1e-6  # a short text leaves slots empty
        mixing = mixing / torch.where(used, total, 1.0)
        scores = (query @ (mixing @ key).transpose(-1, -2)) * self.scale  # [batch, heads, query, slots]
        slots = scores.masked_fill(~used.transpose(-1, -2), float("-inf")).softmax(-1)
        if active() is not None:
            return attend_by_weights(slots @ mixing, value)  # the same product, in the order that shows the weights
        return (slots @ (mixing @ value)).transpose(1, 2)


def random_directions(features: int, d_head: int, seed: int = 0) -> Tensor:
    """Random directions [features, d_head], orthogonal within each d_head of them, as long as normal vectors are."""
    generator = torch.Generator().manual_seed(seed)
    blocks = []
    for start in range(0, features, d_head):
        square, _ = torch.linalg.qr(torch.randn(d_head, d_head, generator=generator))
        blocks.append(square[: min(d_head, features - start)])
    lengths = torch.randn(features, d_head, generator=generator).norm(dim=-1, keepdim=True)
    return torch.cat(blocks) * lengths


def error(cheap: Tensor, exact: Tensor) -> float:
    """How far off an output is, relative to the exact one: ‖cheap − exact‖ / ‖exact‖."""
    return float((cheap - exact).norm() / exact.norm())


CHEAPER = {"performer": Performer, "linformer": Linformer}
