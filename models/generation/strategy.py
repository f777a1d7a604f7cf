"""Strategies for choosing the next token: controls that change a model's scores one after another."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from models.numbers.softmax import softmax

if TYPE_CHECKING:
    from transformers import LogitsProcessor

METHODS = ("greedy", "sampling", "beam")
COLDEST = 0.01  # below it, scores divided by the temperature can exceed the range of float32


@dataclass(frozen=True)
class Strategy:
    """A way to choose the next token. Settings that the method does not use are ignored.

    method: "greedy" takes the likeliest each time, "sampling" draws, "beam" goes on with the `beams` best beginnings.
    For all methods: repetition_penalty divides the positive logits of tokens that were already read or generated, and multiplies
    their negative ones (1: off; Keskar et al. 2019, "CTRL"); no_repeat strikes out tokens that would repeat a run of so many
    tokens (0: off; Paulus et al. 2018). For sampling, in this order: temperature divides the logits; top_k keeps the k likeliest
    tokens (None: all; Fan et al. 2018); top_p keeps the likeliest tokens that together have this share (1: all; Holtzman et al.
    2020); min_p keeps tokens with at least this share of the likeliest token's probability (0: all; Nguyen et al. 2024); typical
    keeps the tokens whose surprise is nearest to the mean and that together have this share (1: all; Meister et al. 2023). seed:
    the same seed gives the same draws.
    For beam search: answers are compared by their log-probability divided by their length to the power of length_penalty.
    Errors: ValueError, in one sentence, for values that make no sense.
    """

    method: str = "greedy"
    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0
    min_p: float = 0.0
    typical: float = 1.0
    repetition_penalty: float = 1.0
    no_repeat: int = 0
    beams: int = 4
    length_penalty: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ValueError(f"A token is chosen by one of {', '.join(METHODS)}; “{self.method}” is none of them.")
        for name in ("temperature", "top_p", "min_p", "typical", "repetition_penalty", "length_penalty"):
            if not _is_number(getattr(self, name)):
                raise ValueError(f"{name} must be a number; it is {getattr(self, name)!r}.")
        for name in ("no_repeat", "beams", "seed", *(["top_k"] if self.top_k is not None else [])):
            if not isinstance(getattr(self, name), int) or isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be a whole number; it is {getattr(self, name)!r}.")
        for wrong, sentence in self._mistakes():
            if wrong:
                raise ValueError(sentence)

    def _mistakes(self) -> Iterator[tuple[bool, str]]:
        yield (
            self.temperature == 0,
            'At temperature 0 the likeliest token would always be drawn: choose the method "greedy", which takes it.',
        )
        yield (
            self.temperature < COLDEST,
            f'The temperature must be at least {COLDEST}; it is {self.temperature:g}. The method "greedy" is the coldest.',
        )
        yield (
            self.top_k is not None and self.top_k < 1,
            f"top_k {self.top_k} would keep no token: it must be at least 1, or None to keep all.",
        )
        yield not 0 < self.top_p <= 1, f"top_p is a share above 0 and up to 1, which keeps all; it is {self.top_p:g}."
        yield not 0 <= self.min_p <= 1, f"min_p is a share from 0, which keeps all, to 1; it is {self.min_p:g}."
        yield not 0 < self.typical <= 1, f"typical is a share above 0 and up to 1, which keeps all; it is {self.typical:g}."
        yield (
            self.repetition_penalty <= 0,
            f"The repetition penalty must be above 0, and 1 changes nothing; it is {self.repetition_penalty:g}.",
        )
        yield self.no_repeat < 0, f"no_repeat is a number of tokens, 0 to switch it off; it is {self.no_repeat}."
        yield self.beams < 1, f"A beam is at least 1 wide; it is {self.beams}."
        yield self.seed < 0, f"A seed is a whole number from 0 on; it is {self.seed}."


@dataclass(frozen=True, eq=False)
class Stage:
    """The scores after one control. name: the field of `Strategy`, or "model" for the tokens that the model's authors rule out.

    logits: float32 [vocabulary], -inf where a token was struck out. struck: the ids that this control struck out.
    """

    name: str
    logits: np.ndarray
    struck: np.ndarray

    @cached_property
    def probabilities(self) -> np.ndarray:
        """The probabilities after this control: float64 [vocabulary]."""
        return softmax(self.logits)


@dataclass(frozen=True, eq=False)
class Distribution:
    """The scores of the next token before all controls, and after each. logits: float32 [vocabulary], as the model gave them."""

    logits: np.ndarray
    stages: tuple[Stage, ...]

    @cached_property
    def before(self) -> np.ndarray:
        """The model's own probabilities: float64 [vocabulary]."""
        return softmax(self.logits)

    @property
    def after(self) -> np.ndarray:
        """The probabilities that a token is chosen by: float64 [vocabulary]."""
        return self.stages[-1].probabilities if self.stages else self.before

    @property
    def final(self) -> np.ndarray:
        """The logits that a token is chosen by: float32 [vocabulary]."""
        return self.stages[-1].logits if self.stages else self.logits

    def choose(self, strategy: Strategy, position: int) -> tuple[int, float | None]:
        """Return the token that a strategy chooses at a position, and where its draw fell, from 0 to 1 (None: no draw).

        A draw lays the tokens side by side, the likeliest first, each as wide as its probability, and takes the one that the
        number falls on. The draw depends only on seed and position, so that another control changes the token only where it must.
        """
        if strategy.method != "sampling":
            return int(self.final.argmax()), None
        dart = float(np.random.default_rng([strategy.seed, position]).random())
        chances = self.after
        possible = np.flatnonzero(chances)
        order = possible[np.argsort(-chances[possible], kind="stable")]
        at = int(np.searchsorted(np.cumsum(chances[order]), dart, side="right"))
        return int(order[min(at, len(order) - 1)]), dart


def distribution(logits: np.ndarray, ids: Sequence[int], strategy: Strategy, never: Collection[int] = ()) -> Distribution:
    """Apply a strategy's active controls to a model's scores [vocabulary], in order, and return the scores after each.

    ids: all tokens that were read or generated before. never: ids that the model's authors rule out. The controls are
    transformers' processors, in the order in which it runs them. Errors: ValueError when no token is left.
    """
    known = np.asarray(logits, dtype=np.float32)
    stages, now = [], known
    for name, new_scores in _run_controls(known[None], [ids], strategy, never):
        stages.append(Stage(name, new_scores[0], np.flatnonzero(np.isneginf(new_scores[0]) & ~np.isneginf(now))))
        now = new_scores[0]
    if not np.isfinite(now).any():
        raise ValueError("The controls strike out every token there is. Loosen one of them.")
    return Distribution(known, tuple(stages))


def apply_controls(
    known: np.ndarray, versions: Sequence[Sequence[int]], strategy: Strategy, never: Collection[int] = ()
) -> np.ndarray:
    """Apply the controls of a beam search to log-probabilities [version, vocabulary] of the next token of several versions.

    As in transformers, the controls work on log-probabilities there, and the result is not normalized to a sum of 1 again.
    """
    for _, new_scores in _run_controls(known.astype(np.float32), versions, strategy, never):
        known = new_scores
    return known


def _run_controls(
    known: np.ndarray, versions: Sequence[Sequence[int]], strategy: Strategy, never: Collection[int]
) -> Iterator[tuple[str, np.ndarray]]:
    controls = _controls(strategy, frozenset(never), known.shape[1])
    if not controls:
        return
    import torch

    ids, scores = torch.tensor(np.array(versions), dtype=torch.long), torch.tensor(known)
    for name, control in controls:
        scores = control(ids, scores)
        yield name, scores.numpy()


@lru_cache(64)  # needed at each step
def _controls(strategy: Strategy, never: frozenset[int], vocabulary: int) -> tuple[tuple[str, LogitsProcessor], ...]:
    """Return the active processors of transformers by the name of their control, in the order in which it runs them."""
    from transformers.generation import logits_process as its

    possible = [
        ("repetition_penalty", 1, lambda value: its.RepetitionPenaltyLogitsProcessor(float(value))),
        ("no_repeat", 0, its.NoRepeatNGramLogitsProcessor),
    ]
    draws = [
        ("temperature", 1, lambda value: its.TemperatureLogitsWarper(float(value))),
        ("top_k", None, lambda value: its.TopKLogitsWarper(min(value, vocabulary))),
        ("top_p", 1, its.TopPLogitsWarper),
        ("min_p", 0, its.MinPLogitsWarper),
        ("typical", 1, its.TypicalLogitsWarper),
    ]

    def on(all: list) -> list[tuple[str, LogitsProcessor]]:
        return [(name, make(getattr(strategy, name))) for name, off, make in all if getattr(strategy, name) != off]

    out = sorted(id for id in never if id < vocabulary)
    ruled = [("model", its.SuppressTokensLogitsProcessor(out))] if out else []
    return *on(possible), *ruled, *(on(draws) if strategy.method == "sampling" else [])


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
