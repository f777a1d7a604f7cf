"""Whether what was learned from short examples holds in longer ones: right answers by position, beyond the trained length."""

from __future__ import annotations

import numpy as np

from models.training.live import PROBES, START, Training, inputs
from models.training.tasks import repeat

ENDS = (64, 96, 128)  # positions up to which answers are counted, beyond the trained length


def stretches(training: Training) -> list[tuple[int, int]]:
    """Return the stretches of positions, each as its first and last, counted from 1: that of the trained answers, and those after
    it that the context has room for. None for a task whose examples cannot be longer."""
    if training.task.name != "repeat":
        return []
    ends = [training.task.length, *(end for end in ENDS if training.task.length < end <= training.config.context)]
    return [(first + 1, last) for first, last in zip([training.task.length // 2, *ends], ends, strict=False)]


def right_by_stretch(training: Training) -> list[float]:
    """Return the share of right answers in each stretch, over PROBES examples that reach its end: the rounds are as long as those
    that were trained, and come again more often."""
    each = stretches(training)
    if not each:
        return []
    longer = repeat(each[-1][1], rounds_of=training.task.length)
    ids, known = longer.batch(np.random.default_rng([training.budget.seed, 3]), PROBES)
    right = training.predict(inputs(ids))[..., :START].argmax(-1).numpy() == ids
    return [float(right[:, first - 1 : last][known[:, first - 1 : last]].mean()) for first, last in each]
