"""A text that a model says over and over: what would have made it leave the loop, by the scores that are known already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.decoding import log_softmax
from models.generation import Step
from models.repeats import Loop, loop

COLDEST, HOTTEST = 0.01, 100.0  # temperatures


@dataclass(frozen=True)
class Escape:
    """How a loop could have been left.

    loop: what is said over and over, in the tokens that were said. penalty: the repetition penalty above which the likeliest
    token is another one, at the step at which the smallest does; `step` of those given, and `id` of the token that would come
    then. Infinity, -1 and -1 where no penalty does. chance: that all of the last round is drawn again at temperature 1;
    temperature: at which that chance is one half.
    """

    loop: Loop
    penalty: float
    step: int
    id: int
    chance: float
    temperature: float


def escape(steps: Sequence[Step], longest: int = 30, least: int = 24) -> Escape | None:
    """What would have broken the loop that generated steps end in; None where they end in none. Nothing is read for it.

    longest, least: as in `models.repeats.loop`. The penalty is the one of `Strategy`, on the model's own scores; a temperature
    counts where tokens are drawn. Only a loop of likeliest tokens has both: see `temperature_for`.
    """
    ending = loop([step.token.id for step in steps], longest, least)
    if ending is None:
        return None
    period = len(ending.ids)
    again = range(ending.start + period, len(steps))
    ways = [(*penalty_for(steps[at]), at) for at in again]
    penalty, id, at = min(ways)
    scores = [(step.logits, step.token.id) for step in steps[-period:]]
    last = penalty < np.inf
    chance = float(np.exp(_log_chance(scores, 1.0)))
    return Escape(ending, penalty, at if last else -1, id, chance, temperature_for(scores))


def penalty_for(step: Step) -> tuple[float, int]:
    """Above which repetition penalty a step's likeliest token would have been another than the one it took, and which.

    The token was read before, so a penalty p divides its logit z by p where z > 0 and multiplies it elsewhere. No other token
    that was read before overtakes it so: only one that was not, with the logit u, does, at p = z / u, or at u / z where both are
    below 0. Infinity and -1 where none does.
    """
    z, known = float(step.logits[step.token.id]), np.asarray(step.logits, dtype=np.float64).copy()
    known[[id for id in {*step.ids, *step.never} if id < len(known)]] = -np.inf
    other = int(known.argmax())
    u = float(known[other])
    if step.token.id not in step.ids or not np.isfinite(u) or (z > 0) != (u > 0) or 0 in (z, u):
        return (1.0, other) if u > z else (np.inf, -1)
    return max(1.0, z / u if z > 0 else u / z), other


def temperature_for(scores: Sequence[tuple[np.ndarray, int]], chance: float = 0.5) -> float:
    """The temperature at which tokens, each drawn by its scores [vocabulary], all come with this chance; 0 where they do not come
    so often at any, as the coldest draw takes others; infinity where they do at all."""
    if _log_chance(scores, COLDEST) < np.log(chance):
        return 0.0
    if _log_chance(scores, HOTTEST) > np.log(chance):
        return np.inf
    low, high = COLDEST, HOTTEST
    while high / low > 1 + 1e-9:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if _log_chance(scores, middle) > np.log(chance) else (low, middle)
    return low


def _log_chance(scores: Sequence[tuple[np.ndarray, int]], temperature: float) -> float:
    return float(sum(log_softmax(logits / temperature)[id] for logits, id in scores))
