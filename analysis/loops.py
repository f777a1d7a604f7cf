"""Loops in generated text: the settings that would have ended a loop, by the recorded scores, and the repetition penalty that
breaks it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from analysis.statistics import Report, silent
from models.generation.generate import Step
from models.generation.strategy import Strategy
from models.numbers.softmax import log_softmax
from models.reading.repeats import Loop, loop

if TYPE_CHECKING:
    from models.language_model import LanguageModel

COLDEST, HOTTEST = 0.01, 100.0  # temperatures
GRID, STRONGEST = 0.001, 2.0  # repetition penalties are tried in steps of this, up to that
TRIES = 8  # texts that are generated at most


@dataclass(frozen=True)
class WayOut:
    """The smallest repetition penalty with which a model's likeliest tokens end in no loop.

    penalty: on a grid of GRID, up to STRONGEST; 1 if they end in none without a penalty; infinity if none was found. tried: how
    many texts were generated; every: whether no other penalty would give another text. at: the first token that differs, counted
    from 0; original, other: the old token and the new one there ("" at the end of the text); text: the text generated with this
    penalty.
    """

    penalty: float
    tried: int
    every: bool = True
    at: int = -1
    original: str = ""
    other: str = ""
    text: str = ""


@dataclass(frozen=True)
class Escape:
    """The penalty and the temperature that would have ended a loop.

    loop: the repeated tokens, in the generated text. penalty: the repetition penalty up to which all generated tokens are the
    likeliest; above it another token, `id`, is chosen at `step`, the first that changes. The text after it may loop again: see
    `way_out`. Infinity, -1 and -1 if no penalty changes any token. chance: the probability that all of the last round is drawn
    again at temperature 1; temperature: the one at which that probability is one half.
    """

    loop: Loop
    penalty: float
    step: int
    id: int
    chance: float
    temperature: float


def escape(steps: Sequence[Step], longest: int = 30, least: int = 24) -> Escape | None:
    """Return the settings that would have broken the loop at the end of generated steps; None without a loop. No text is read for
    it.

    longest, least: as in `models.reading.repeats.loop`. The penalty is that of `Strategy`, on the model's own scores; the
    temperature matters where tokens are drawn. Only a loop of likeliest tokens has both: see `temperature_for`.
    """
    ending = loop([step.token.id for step in steps], longest, least)
    if ending is None:
        return None
    period = len(ending.ids)
    ways = [(*penalty_for(step), at) for at, step in enumerate(steps)]
    penalty, id, at = min(ways, key=lambda way: (way[0], way[2]))
    scores = [(step.logits, step.token.id) for step in steps[-period:]]
    last = penalty < np.inf
    chance = float(np.exp(_log_chance(scores, 1.0)))
    return Escape(ending, penalty, at if last else -1, id, chance, temperature_for(scores))


def way_out(
    model: LanguageModel,
    text: str,
    steps: Sequence[Step],
    target: str = "",
    chat: bool = False,
    tries: int = TRIES,
    report: Report = silent,
) -> WayOut:
    """Return the smallest repetition penalty that breaks a loop, found by generating as many tokens with it.

    text, target, chat: the arguments of `model.generate`; steps: its steps, which end in a loop. Penalties that change none of
    the likeliest tokens give the same text, so only those at which one of them changes are tried, from the smallest on.
    """
    strategy = _greedy(steps)
    generated: Sequence[Step] = steps if strategy else ()
    strategy, tries_made = strategy or Strategy(), 0
    while not generated or loop([step.token.id for step in generated]):
        if generated:
            strategy = replace(strategy, repetition_penalty=_next(generated, strategy.repetition_penalty))
        if strategy.repetition_penalty > STRONGEST or tries_made == tries:
            return WayOut(np.inf, tries_made, strategy.repetition_penalty > STRONGEST)
        generated = []
        for step in model.generate(text, strategy, len(steps), target=target, chat=chat):
            generated.append(step)
            report((tries_made + len(generated) / len(steps)) / tries, f"repetition penalty {strategy.repetition_penalty:g}")
        tries_made += 1
    pairs = list(zip(steps, generated, strict=False))
    at = next((i for i, (old, new) in enumerate(pairs) if old.token.id != new.token.id), len(pairs))
    names = [some_steps[at].token.text if at < len(some_steps) else "" for some_steps in (steps, generated)]
    return WayOut(strategy.repetition_penalty, tries_made, True, at, names[0], names[1], generated[-1].text)


def _greedy(steps: Sequence[Step]) -> Strategy | None:
    """Return the strategy under which all of these are the likeliest tokens, which saves generating them again; else None."""
    strategy = steps[-1].strategy
    plain = strategy.method == "greedy" and not strategy.no_repeat
    return strategy if plain and all(step.chosen_by(strategy)[0] == step.token.id for step in steps) else None


def _next(steps: Sequence[Step], penalty: float) -> float:
    """Return the smallest penalty of the grid that changes one of these likeliest tokens; infinity if none does."""
    least = min(penalty_for(step)[0] for step in steps)
    if not np.isfinite(least):
        return np.inf
    return round((int(max(least // GRID, round(penalty / GRID))) + 1) * GRID, 6)


def penalty_for(step: Step) -> tuple[float, int]:
    """Return the repetition penalty above which a step's likeliest token would have been another one, and that token.

    The token was read before, so a penalty p divides its logit z by p where z > 0 and multiplies it elsewhere. Other tokens that
    were read before cannot overtake it in this way. A new token with the logit u does, at p = z / u, or at u / z if both are
    below 0. Infinity and -1 if none does.
    """
    z, rivals = float(step.logits[step.token.id]), np.asarray(step.logits, dtype=np.float64).copy()
    rivals[[id for id in {*step.ids, *step.never} if id < len(rivals)]] = -np.inf
    other = int(rivals.argmax())
    u = float(rivals[other])
    if step.token.id not in step.ids or not np.isfinite(u) or (z > 0) != (u > 0) or 0 in (z, u):
        return (1.0, other) if u > z else (np.inf, -1)
    return max(1.0, z / u if z > 0 else u / z), other


def temperature_for(scores: Sequence[tuple[np.ndarray, int]], chance: float = 0.5) -> float:
    """Return the temperature at which tokens, each drawn by its scores [vocabulary], are all drawn with this probability; 0 if it
    is reached at no temperature, because the coldest draw takes others; infinity if it is reached at every one."""
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
