"""One number of each layer while it learns: its gradient, what the optimizer remembers of it, and how each step moves it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from torch import Tensor, nn

from models.training.optimizers import AdamW, Optimizer

NOTED = ("value", "gradient", "mean", "root", "moved")


@dataclass(eq=False)
class OneWeight:
    """One number of a network, and what is noted of it at each step, float32 by step.

    name: of its matrix. value: before the step. gradient: after clipping. mean: of the gradients, as the optimizer's momentum has
    it; of Adam and AdamW corrected for its start at 0, m / (1 − β₁ᵗ). root: of the mean of the squares, √(v / (1 − β₂ᵗ)); NaN of
    an optimizer without one. moved: the change of the number. A step that was left out has NaN.
    """

    name: str
    weight: Tensor = field(repr=False)
    value: array = field(default_factory=lambda: array("f"))
    gradient: array = field(default_factory=lambda: array("f"))
    mean: array = field(default_factory=lambda: array("f"))
    root: array = field(default_factory=lambda: array("f"))
    moved: array = field(default_factory=lambda: array("f"))

    @property
    def now(self) -> float:
        return first(self.weight)

    def noted(self) -> dict[str, np.ndarray]:
        """Return what was noted of all steps that are complete, float32 [step] by name. It copies: an array cannot grow while
        somebody looks into its memory, and the training goes on meanwhile."""
        count = len(self.moved)  # which is noted last
        return {name: np.array(getattr(self, name)[:count], dtype=np.float32) for name in NOTED}

    def note(self, before: float, optimizers: Iterable[Optimizer] | None) -> None:
        """Note a step that has just been taken, while the gradient is still there. before: the number before it; optimizers: of
        the network, None for a step that was left out."""
        mean = root = gradient = moved = math.nan
        if optimizers is not None and self.weight.grad is not None:
            gradient, moved = first(self.weight.grad), self.now - before
            mean, root = self._remembered(optimizers)
        for name, number in zip(NOTED, (before, gradient, mean, root, moved), strict=True):
            getattr(self, name).append(number)

    def _remembered(self, optimizers: Iterable[Optimizer]) -> tuple[float, float]:
        """Return the mean of the gradients and the root of the mean of their squares, as an optimizer remembers them."""
        for optimizer in optimizers:
            place = next((i for i, (weight, _) in enumerate(optimizer.weights) if weight is self.weight), None)
            if place is None or place not in optimizer.memory:
                continue
            memory = optimizer.memory[place]
            if not isinstance(optimizer, AdamW):
                return first(memory["momentum_buffer"]), math.nan
            (b1, b2), steps = optimizer.betas, int(memory["step"])
            square = first(memory["exp_avg_sq"]) / (1 - b2**steps)
            return first(memory["exp_avg"]) / (1 - b1**steps), math.sqrt(square)
        return math.nan, math.nan


def first(tensor: Tensor) -> float:
    """Return the first number of a tensor."""
    return float(tensor.detach().reshape(-1)[0])


def of_layers(network: nn.Module, blocks: Iterable[nn.Module]) -> list[OneWeight]:
    """Return the first number of the first matrix of each layer."""
    names = {id(weight): name for name, weight in network.named_parameters()}
    matrices = [next(weight for weight in block.parameters() if weight.dim() > 1) for block in blocks]
    return [OneWeight(names[id(matrix)], matrix) for matrix in matrices]
