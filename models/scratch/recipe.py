"""How a model is trained: sizes, learning rates, and when they fall."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """Learning rates are per step, warm-up and horizon in steps."""

    steps: int = 6_100
    batch: int = 24  # rows a step
    matrix_rate: float = 0.02  # Muon (Jordan et al. 2024), for the matrices inside the blocks
    rate: float = 3e-3  # AdamW (Loshchilov and Hutter 2019), for embeddings and norms
    matrix_decay: float = 0.05
    warmup: int = 100
    decay: float = 0.45  # share of the horizon over which the rate falls to zero
    clip: float = 1.0
    smoothing: float = 0.0  # label smoothing: a share of the target that all tokens get (Szegedy et al. 2016)
    repeats: float = 0.0  # share of rows that repeat themselves, until the decay begins
    masked: float = 0.2  # share of tokens that a masked model has to find
    twice_under: int = 1500  # documents of fewer characters come twice an epoch
    seed: int = 0


@dataclass(frozen=True)
class Schedule:
    """Linear warm-up, a plateau, linear decay to zero (Hägele et al. 2024): the decay may begin when there is no more time."""

    steps: int
    decay_from: int
    warmup: int

    @classmethod
    def of(cls, recipe: Recipe) -> Schedule:
        return cls(recipe.steps, round(recipe.steps * (1 - recipe.decay)), recipe.warmup)

    def finishing(self, step: int, more: int) -> Schedule:
        """The schedule whose decay begins at a step and takes so many more; what decays already is only made to end sooner."""
        if step < self.decay_from:
            return Schedule(step + more, step, self.warmup)
        return Schedule(min(self.steps, step + more), self.decay_from, self.warmup)

    def rate(self, step: int) -> float:
        """Share of the full learning rate at a step: from 1 / warm-up on, so that the first step is one."""
        falling = (self.steps - step) / max(1, self.steps - self.decay_from)
        return max(0.0, min(1.0, (step + 1) / max(1, self.warmup), falling))
