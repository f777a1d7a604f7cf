"""Finds how a Hugging Face model rotates its queries and keys, by watching it read one token many times.

Where the same token stands at every position, and the model knows positions only by turning, what every layer reads is the
same everywhere: values are alike, so any mixture of them is. Queries then differ by the turning alone, and of the ways of
turning that are in use the right one is the one that makes them equal again. No table of architectures is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
import torch
from torch import nn
from transformers import PreTrainedModel

from models.recorder import Call
from models.rotary import Rotary

COUNT = 12  # how often the token is read
ALIKE = 1e-3  # of a query's length


def turns(network: PreTrainedModel, read: Callable[[int], Sequence[Call]]) -> list[Rotary | None]:
    """How each layer turns its queries; None where it does not, or in no way that is known.

    read(count): the self-attention calls, layer by layer, of a forward pass over one token `count` times.
    """
    if _depends_on_length(network):
        return [None] * len(read(2))
    seen: list[np.ndarray] = []

    def notice(module: nn.Module, _: object, out: object) -> None:
        if isinstance(out, tuple) and len(out) == 2 and all(isinstance(one, torch.Tensor) for one in out):
            found = [one.detach().float().cpu().numpy().reshape(-1, *one.shape[-2:])[0] for one in out if one.dim() >= 2]
            if len(found) == 2 and found[0].shape == found[1].shape and len(found[0]) == COUNT:
                seen.extend(_frequencies(*found))

    leaves = [module for module in network.modules() if not any(True for _ in module.children())]
    hooks = [module.register_forward_hook(notice) for module in leaves]
    try:
        calls = read(COUNT)
    finally:
        for hook in hooks:
            hook.remove()
    return [_way(call, seen) for call in calls]


def _way(call: Call, seen: list[np.ndarray]) -> Rotary | None:
    if call.query is None:
        return None
    queries = call.query.float().cpu().numpy()  # [heads, position, d_head]
    if _alike(queries):
        return None  # this layer knows no positions
    for one in _ways(seen, queries.shape[-1]):
        if _alike(np.stack([one.undone(head, np.arange(COUNT)) for head in queries])):
            return one
    return None


def _ways(seen: list[np.ndarray], d_head: int) -> Iterator[Rotary]:
    for frequencies, pairs in product(seen, ("halves", "neighbours")):
        spare = d_head - 2 * len(frequencies)
        for start in sorted({0, spare}) if spare >= 0 else ():
            yield Rotary(frequencies, pairs, start)


def _alike(queries: np.ndarray) -> bool:
    """Whether queries [heads, position, d_head] are the same at every position."""
    return bool(np.abs(queries - queries[:, :1]).max() <= ALIKE * np.abs(queries).max())


def _frequencies(cos: np.ndarray, sin: np.ndarray) -> list[np.ndarray]:
    """The angles of one step by cosines and sines [position, column]: as they are, or each written twice in a row or round."""
    length = np.hypot(cos, sin)
    if not np.allclose(length, length[0, 0], rtol=1e-2):
        return []
    steps = np.arctan2(sin[1], cos[1]).astype(np.float64)
    half = len(steps) // 2
    if len(steps) % 2:
        return [steps]
    in_rounds, in_rows = np.allclose(steps[:half], steps[half:]), np.allclose(steps[::2], steps[1::2])
    return [steps[:half]] * bool(in_rounds) + [steps[::2]] * bool(in_rows) + [steps]


def _depends_on_length(network: PreTrainedModel) -> bool:
    """Whether the angles change with the length of the text: one short reading then tells nothing of a long one."""
    config = network.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = [one.get("rope_type") for one in (rope, *rope.values()) if isinstance(one, dict)]
    return any(kind in ("dynamic", "longrope") for kind in kinds)
