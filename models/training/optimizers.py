"""The optimizers: gradient descent with momentum, Adam, AdamW and Muon, each a step of plain formulas.

The optimizers of `torch.optim` compute the same, but load torch's compiler when they are created: 800 modules and 100 MB, which
would hold up everybody else on a server when its first training begins.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

EPSILON = 1e-8  # AdamW's, against division by zero
MOMENTUM = 0.95  # Muon's
INERTIA = 0.9  # the momentum of gradient descent
QUINTIC = (3.4445, -4.7750, 2.0315)  # coefficients of a step towards the nearest orthogonal matrix
QUINTIC_STEPS = 5
SHORTEST = 1e-7  # norm of a gradient, against division by zero


class Optimizer(ABC):
    """Weights, each with the share of it that decays at a learning rate of 1, and what is remembered of each between steps."""

    moments = 0  # that are remembered of a weight, each as large as it
    decays_by_gradient = False  # whether a weight's decay is a part of its gradient, as in an L2 penalty, or apart from it

    def __init__(self, weights: Iterable[tuple[Tensor, float]]):
        self.weights = list(weights)
        self.memory: dict[int, dict[str, Any]] = {}  # by the number of the weight

    @property
    def numbers(self) -> int:
        """The count of numbers that it remembers once each weight has had a step."""
        return self.moments * sum(weight.numel() for weight, _ in self.weights)

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Change each weight that has a gradient, at this learning rate."""
        for number, (weight, decay) in enumerate(self.weights):
            if weight.grad is not None:
                if number not in self.memory:
                    self.memory[number] = self.begin(weight)
                gradient = weight.grad
                if decay and self.decays_by_gradient:
                    gradient = gradient.add(weight, alpha=decay)
                else:
                    weight.mul_(1 - rate * decay)
                self.move(weight, gradient, rate, self.memory[number])

    @abstractmethod
    def begin(self, weight: Tensor) -> dict[str, Any]:
        """Return what is remembered of a weight before its first step."""

    @abstractmethod
    def move(self, weight: Tensor, gradient: Tensor, rate: float, memory: dict[str, Any]) -> None:
        """Change a weight, and what is remembered of it."""

    def state_dict(self) -> dict[str, Any]:
        """Return what it remembers, by the names that `torch.optim` has for it."""
        return {"state": self.memory}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.memory = {number: dict(memory) for number, memory in state["state"].items()}


class AdamW(Optimizer):
    """Adam with weight decay apart from the gradient. betas: shares of the two running means that stay at each step.

    Source: Loshchilov and Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
    """

    moments = 2

    def __init__(self, weights: Iterable[tuple[Tensor, float]], betas: tuple[float, float] = (0.9, 0.95)):
        super().__init__(weights)
        self.betas = betas

    def begin(self, weight: Tensor) -> dict[str, Any]:
        return {"step": 0, "exp_avg": torch.zeros_like(weight), "exp_avg_sq": torch.zeros_like(weight)}

    def move(self, weight: Tensor, gradient: Tensor, rate: float, memory: dict[str, Any]) -> None:
        b1, b2 = self.betas
        steps = memory["step"] = int(memory["step"]) + 1
        mean, square = memory["exp_avg"], memory["exp_avg_sq"]
        mean.lerp_(gradient, 1 - b1)
        square.mul_(b2).addcmul_(gradient, gradient, value=1 - b2)
        scale = (square.sqrt() / math.sqrt(1 - b2**steps)).add_(EPSILON)
        weight.addcdiv_(mean, scale, value=-rate / (1 - b1**steps))


class Adam(AdamW):
    """Adam: each weight's mean gradient, divided by the root of its mean square. A decay is a part of the gradient.

    Source: Kingma and Ba 2015, "Adam: A Method for Stochastic Optimization", algorithm 1.
    """

    decays_by_gradient = True


class GradientDescent(Optimizer):
    """Gradient descent with momentum: a step down the sum of all gradients, of which each counts less at every step after it.

    Source: Polyak 1964, in the form of Sutskever et al. 2013, "On the importance of initialization and momentum".
    """

    moments = 1
    decays_by_gradient = True

    def begin(self, weight: Tensor) -> dict[str, Any]:
        return {"momentum_buffer": torch.zeros_like(weight)}

    def move(self, weight: Tensor, gradient: Tensor, rate: float, memory: dict[str, Any]) -> None:
        weight.add_(memory["momentum_buffer"].mul_(INERTIA).add_(gradient), alpha=-rate)


class Muon(Optimizer):
    """Momentum whose directions all get about the same length, for matrices.

    Source: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks".
    """

    moments = 1

    def begin(self, weight: Tensor) -> dict[str, Any]:
        return {"momentum_buffer": torch.zeros_like(weight)}

    def move(self, weight: Tensor, gradient: Tensor, rate: float, memory: dict[str, Any]) -> None:
        mean = memory["momentum_buffer"]
        mean.lerp_(gradient, 1 - MOMENTUM)
        rows, columns = weight.shape
        weight.add_(orthogonal(gradient.lerp(mean, MOMENTUM)), alpha=-rate * math.sqrt(max(1, rows / columns)))


def orthogonal(matrix: Tensor) -> Tensor:
    """Return a matrix with about the same singular vectors, and singular values from about 0.7 to 1.2: bfloat16, of its shape.

    Source: the Newton–Schulz iteration of Jordan et al. 2024.
    """
    a, b, c = QUINTIC
    wide = matrix.bfloat16() if matrix.shape[0] <= matrix.shape[1] else matrix.bfloat16().T
    wide = wide / wide.norm().clamp(min=SHORTEST)
    for _ in range(QUINTIC_STEPS):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide if matrix.shape[0] <= matrix.shape[1] else wide.T
