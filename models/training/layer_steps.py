"""Measurements of each layer in a training step: its gradient, the change of its weights, and the stream after it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

import numpy as np
from torch import Tensor

from models.scratch.transformer import Decoder
from models.training.baselines import Baseline
from models.training.precision import LOST


@dataclass(frozen=True, eq=False)
class LayerStep:
    """One step, measured in each layer: float32 [1 + layers] each. The first place has what is outside the blocks.

    step: its number, from 1. gradient: the norm of the loss's gradient for the weights, before it is clipped. update: the norm of
    the change of the weights, over the norm of the weights before. mean, spread: the mean and the standard deviation of the
    residual stream's numbers after the embedding and after each block, over all examples, positions and dimensions of the step.
    lost: the share of the gradient's numbers that are not 0 and would be in float16 (below `precision.LOST`).
    """

    step: int
    gradient: np.ndarray
    update: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    lost: np.ndarray


class LayerMeter:
    """Measure one step of a network, as a context around it; call `note_gradient` between the backward pass and the update."""

    def __init__(self, network: Decoder | Baseline) -> None:
        self._network = network
        blocks = [list(block.parameters()) for block in network.blocks]
        inside = {id(parameter) for parameters in blocks for parameter in parameters}
        self._groups = [[parameter for parameter in network.parameters() if id(parameter) not in inside], *blocks]
        self._moments = np.zeros((len(self._groups), 3))  # count, sum and sum of squares of the stream's numbers
        self._gradient, self._lost = [0.0] * len(self._groups), [0.0] * len(self._groups)

    def __enter__(self) -> LayerMeter:
        self._before = [[parameter.detach().clone() for parameter in group] for group in self._groups]
        blocks = self._network.blocks
        self._hooks = [blocks[0].register_forward_pre_hook(lambda block, inputs: self._note_stream(0, inputs[0]))]
        for place, block in enumerate(blocks, 1):
            self._hooks.append(block.register_forward_hook(lambda block, inputs, out, place=place: self._note_stream(place, out)))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for hook in self._hooks:
            hook.remove()

    def _note_stream(self, place: int, stream: Tensor) -> None:
        numbers = stream.detach().double()
        self._moments[place] += numbers.numel(), numbers.sum().item(), numbers.square().sum().item()

    def note_gradient(self, prepare: Callable[[], None] = lambda: None) -> None:
        """Note the norms of the gradient, which clipping changes, and the share of its numbers that are small. prepare: called
        before."""
        prepare()
        gradients = [[weight.grad for weight in group if weight.grad is not None] for group in self._groups]
        self._gradient, self._lost = [norm(group) for group in gradients], [lost_share(group) for group in gradients]

    def measured(self, step: int) -> LayerStep:
        """Return what was measured, once the weights have changed. step: the number of the step."""
        update = [
            norm([weight.detach() - old for weight, old in zip(group, olds, strict=True)]) / (norm(olds) or 1.0)
            for group, olds in zip(self._groups, self._before, strict=True)
        ]
        count, total, squares = self._moments.T
        mean = total / count
        spread = np.sqrt(np.maximum(squares / count - mean**2, 0))
        measures = self._gradient, update, mean, spread, self._lost
        return LayerStep(step, *(np.array(values, dtype=np.float32) for values in measures))


def lost_share(gradients: Sequence[Tensor]) -> float:
    """Return the share of the numbers other than 0 that float16 cannot hold, 0 where there are none."""
    sizes = [gradient.abs() for gradient in gradients]
    present = sum(int((size > 0).sum()) for size in sizes)
    small = sum(int(((size > 0) & (size < LOST)).sum()) for size in sizes)
    return small / present if present else 0.0


def norm(tensors: Sequence[Tensor]) -> float:
    """Return the norm of all numbers together."""
    return math.sqrt(sum(tensor.double().square().sum().item() for tensor in tensors))
