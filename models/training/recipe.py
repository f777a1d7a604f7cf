"""Recipes of training: sizes, learning rates, and their schedule."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """The settings of a training. Learning rates are per step, warm-up and horizon in steps."""

    steps: int = 6_100
    batch: int = 24  # rows a step
    matrix_rate: float = 0.02  # Muon (Jordan et al. 2024), for the matrices inside the blocks
    rate: float = 3e-3  # AdamW (Loshchilov and Hutter 2019), for embeddings and norms
    matrix_decay: float = 0.05
    warmup: int = 100
    decay: float = 0.45  # share of the horizon over which the rate falls to zero
    clip: float = 1.0
    earlier_share: float = 0.0  # share of the weights from before it that is left in those at its end (Wortsman et al. 2022)
    smoothing: float = 0.0  # label smoothing: a share of the target that all tokens get (Szegedy et al. 2016)
    repeats: float = 0.0  # share of rows that repeat themselves, half of them tokens at random, half of them words
    own: float = 0.0  # share of steps that unlearn what the model repeats in its own continuations; it falls as the rates do
    names: int = 0  # how often an epoch of a translator has each sentence about Tom or Mary again, with another name
    masked: float = 0.2  # share of tokens that a masked model has to find
    cuts: tuple[int, ...] = (1, 2, 4, 8)  # its windows are the context long, divided by one of these
    masks: float = 0.8  # share of those that become the mask; half of the others become any token, half stay
    again: float = 0.0  # how much a masked model unlearns words that its sentence has already
    facts: int = 0  # rows of facts a step, beside the text of a decoder; or windows of a masked model that are facts
    fact_length: int = 64  # tokens of such a row beside the text
    fact_share: float = 0.5  # share of the loss that is the loss of their answers
    twice_under: int = 1500  # documents of fewer characters come twice an epoch
    seed: int = 0


@dataclass(frozen=True)
class Schedule:
    """Linear warm-up, a plateau, linear decay to zero (Hägele et al. 2024): the decay may begin when there is no more time.

    start: the step at which it begins; the others count from the first step of all.
    """

    steps: int
    decay_from: int
    warmup: int
    start: int = 0

    @classmethod
    def of(cls, recipe: Recipe, start: int = 0) -> Schedule:
        return cls(start + recipe.steps, start + round(recipe.steps * (1 - recipe.decay)), recipe.warmup, start)

    def finishing(self, step: int, more: int) -> Schedule:
        """Return a schedule that decays from a step on, over `more` steps; a decay that has begun only ends sooner."""
        if step < self.decay_from:
            return Schedule(step + more, step, self.warmup, self.start)
        return Schedule(min(self.steps, step + more), self.decay_from, self.warmup, self.start)

    def rate(self, step: int) -> float:
        """Return the share of the full learning rate at a step: from 1 / warm-up on, so that the first step counts."""
        falling = (self.steps - step) / max(1, self.steps - self.decay_from)
        return max(0.0, min(1.0, (step + 1 - self.start) / max(1, self.warmup), falling))
