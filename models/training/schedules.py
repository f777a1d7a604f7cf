"""Schedules of the learning rate: its share of the highest rate at each step of a training."""

from __future__ import annotations

import math

from models.training.recipe import Schedule

SCHEDULES = ("plateau", "constant", "linear", "cosine", "original")
PLATEAU = 0.7  # share of the steps before a plateau falls


def rate_share(schedule: str, step: int, steps: int, warmup: int) -> float:
    """Return the share of the highest learning rate at a step, counted from 0.

    The warm-up is linear, from 1 / warm-up on, so that the first step counts. Then "constant" stays; "linear" and "cosine" (half
    a period, Loshchilov and Hutter 2017) fall to 0 at the end; "plateau" stays and falls over the last 30 % (Hägele et al. 2024);
    "original" falls with the root of the step, and depends on no end (Vaswani et al. 2017, section 5.3; its highest rate is
    1 / √(d_model · warm-up)). Errors: ValueError for another name.
    """
    warmup = min(warmup, steps)
    if schedule == "plateau":
        return Schedule(steps, round(PLATEAU * steps), warmup).rate(step)
    if schedule not in SCHEDULES:
        raise ValueError(f"The schedule must be one of {', '.join(SCHEDULES)}; it is {schedule!r}.")
    warm = (step + 1) / warmup
    if warm < 1:
        return warm
    done = min(1.0, max(0.0, (step - warmup) / max(1, steps - warmup)))
    match schedule:
        case "linear":
            return 1 - done
        case "cosine":
            return (1 + math.cos(math.pi * done)) / 2
        case "original":
            return math.sqrt(warmup / (step + 1))
    return 1.0
