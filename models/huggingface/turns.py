"""The rotary positions of a Hugging Face model, found by watching it read one token many times.

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

from models.attention.recorded_call import Call
from models.attention.undo_rotary import Rotary

COUNT = 12  # how often the token is read
ALIKE = 1e-3  # of a query's length


def find_rotaries(network: PreTrainedModel, read: Callable[[int], Sequence[Call]]) -> list[Rotary | None]:
    """Return how each layer turns its queries; None where it does not, or in no known way.

    read(count): the self-attention calls, layer by layer, of a forward pass over one token `count` times.
    """
    if _depends_on_length(network):
        return [None] * len(read(2))
    step_angles: list[np.ndarray] = []

    def notice(module: nn.Module, _: object, out: object) -> None:
        if isinstance(out, tuple) and len(out) == 2 and all(isinstance(part, torch.Tensor) for part in out):
            tables = [part.detach().float().cpu().numpy().reshape(-1, *part.shape[-2:])[0] for part in out if part.dim() >= 2]
            if len(tables) == 2 and tables[0].shape == tables[1].shape and len(tables[0]) == COUNT:
                step_angles.extend(_frequencies(*tables))

    leaves = [module for module in network.modules() if not any(True for _ in module.children())]
    hooks = [module.register_forward_hook(notice) for module in leaves]
    try:
        calls = read(COUNT)
    finally:
        for hook in hooks:
            hook.remove()
    return [_rotary_of(call, step_angles) for call in calls]


def _rotary_of(call: Call, step_angles: list[np.ndarray]) -> Rotary | None:
    if call.query is None:
        return None
    queries = call.query.float().cpu().numpy()  # [heads, position, d_head]
    if _alike(queries):
        return None  # this layer knows no positions
    for rotary in _candidates(step_angles, queries.shape[-1]):
        if _alike(np.stack([rotary.undone(head, np.arange(COUNT)) for head in queries])):
            return rotary
    return None


def _candidates(step_angles: list[np.ndarray], d_head: int) -> Iterator[Rotary]:
    for frequencies, pairs in product(step_angles, ("halves", "neighbours")):
        spare = d_head - 2 * len(frequencies)
        for start in sorted({0, spare}) if spare >= 0 else ():
            yield Rotary(frequencies, pairs, start)


def _alike(queries: np.ndarray) -> bool:
    """Return whether queries [heads, position, d_head] are the same at every position."""
    return bool(np.abs(queries - queries[:, :1]).max() <= ALIKE * np.abs(queries).max())


def _frequencies(cos: np.ndarray, sin: np.ndarray) -> list[np.ndarray]:
    """Return the angles of one step by cosines and sines [position, column]: as they are, or without their repetitions."""
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
    """Return whether the angles change with the length of the text: a short reading then says nothing about a long one."""
    config = network.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = [parameters.get("rope_type") for parameters in (rope, *rope.values()) if isinstance(parameters, dict)]
    return any(kind in ("dynamic", "longrope") for kind in kinds)
