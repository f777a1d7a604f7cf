"""The verdict on groups of runs: whether one is better than the others, beside what chance gives."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ui.escaping import plain
from ui.words import say
from viz.numbers import percent

if TYPE_CHECKING:
    from models.training.live import Training

LEARNED = 0.99  # share of right answers from which a task counts as learned


@dataclass(frozen=True)
class Verdict:
    """The verdict on groups of runs with several seeds. best: the group whose mean is best; apart: whether each of its runs is
    better than all runs of the others; luck: how often a group would be apart if the groups did not differ; by: what is compared.
    """

    best: str
    apart: bool
    luck: float
    by: str


def verdict(each: dict[str, list[Training]]) -> Verdict | None:
    """Return the verdict on groups of equal size, by the steps until all have learned their task, else by the answers that are
    right in the end; None where a group has a single run, or a run goes on."""
    sizes = {len(runs) for runs in each.values()}
    everything = [training for runs in each.values() for training in runs]
    if len(each) < 2 or len(sizes) != 1 or min(sizes) < 2 or any(run.state in ("running", "paused") for run in everything):
        return None
    steps = {title: [learned_at(run) for run in runs] for title, runs in each.items()}
    learned = all(step is not None for values in steps.values() for step in values)
    scores = {
        title: [-step for step in steps[title] if step is not None] if learned else [run.snapshots[-1].accuracy for run in runs]
        for title, runs in each.items()
    }
    best = max(scores, key=lambda title: sum(scores[title]))
    others = [value for title, values in scores.items() if title != best for value in values]
    luck = len(each) / math.comb(len(everything), len(scores[best]))  # of all ways to share the ranks among the groups
    return Verdict(best, min(scores[best]) > max(others), luck, "steps" if learned else "answers")


def say_verdict(here: Path, each: dict[str, list[Training]]) -> None:
    """Say whether one group of runs is better than the others, beside what chance gives."""
    if result := verdict(each):
        facts = {"best": plain(result.best), "luck": percent(result.luck), "runs": sum(map(len, each.values()))}
        say(here, f"verdict {result.by}" if result.apart else "verdict none", **facts)


def learned_at(training: Training) -> int | None:
    """Return the first step from which a run has learned its task: right answers stay above LEARNED; None where it has not."""
    step = None
    for snapshot in reversed(list(training.snapshots)):
        if snapshot.accuracy < LEARNED:
            break
        step = snapshot.step
    return step
