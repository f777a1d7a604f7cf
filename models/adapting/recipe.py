"""The recipe of an adaptation: its method, what it may change, and how long it learns."""

from __future__ import annotations

from dataclasses import dataclass

METHODS = ("lora", "ia3", "full")  # Hu et al. 2021; Liu et al. 2022; every weight
TITLES = {"lora": "LoRA", "ia3": "IA3", "full": "all weights"}  # as people call them
PLACES = ("attention", "feed-forward", "both")
RATES = {"lora": 7e-4, "ia3": 2e-2, "full": 5e-5}  # learning rates where none is chosen
MOST_STEPS, MOST_RANK = 500, 64


@dataclass(frozen=True)
class Recipe:
    """How a model is adapted.

    method: one of METHODS. rank: of LoRA's matrices, whose product counts twice (peft's alpha is twice the rank). place: which
    linear maps change, one of PLACES; with "full", all weights change. steps: of AdamW without decay. rate: its highest learning
    rate, None for the usual one of the method (RATES). every: steps between two measurements. seconds: of computing, at most.
    Errors: ValueError for impossible values.
    """

    method: str = "lora"
    rank: int = 8
    place: str = "feed-forward"  # LoRA learns sentences here as well as in attention, and forgets less
    steps: int = 30
    rate: float | None = None
    every: int = 3
    seconds: float = 300.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"The method must be one of {', '.join(METHODS)}; it is {self.method!r}.")
        if self.place not in PLACES:
            raise ValueError(f"The place must be one of {', '.join(PLACES)}; it is {self.place!r}.")
        if not 1 <= self.rank <= MOST_RANK:
            raise ValueError(f"The rank must be from 1 to {MOST_RANK}; it is {self.rank}.")
        if not (1 <= self.steps <= MOST_STEPS and self.every >= 1):
            raise ValueError(f"The steps must be from 1 to {MOST_STEPS}; there are {self.steps}.")
        if not (self.highest_rate > 0 and self.seconds > 0):
            raise ValueError("The learning rate and the seconds must be above 0.")

    @property
    def highest_rate(self) -> float:
        return RATES[self.method] if self.rate is None else self.rate

    @property
    def warmup(self) -> int:
        """Steps in which the learning rate rises to its highest."""
        return max(1, min(5, self.steps // 10))
