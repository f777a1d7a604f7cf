"""Runs the test of "Which to believe" as a job, after a click if it takes minutes."""

from __future__ import annotations

from analysis import Faithfulness, faithfulness
from analysis.attribution_tests import texts_read
from ui import effort
from ui.believe.trial import HERE, Trial
from ui.effort import format_duration, is_begun, offer
from ui.memory import jobs
from ui.words import say

LONG = 60.0  # seconds; what takes longer is measured on a grid of steps, and what takes longer even so when somebody asks for it
LONGEST = 3600.0  # seconds; every step is offered where it takes no longer


def seconds(trial: Trial, exact: bool) -> float:
    """Estimate how many seconds the curves take."""
    units = len(trial.question.units)
    length = trial.question.length - (0 if trial.question.mask else units / 2)  # what is deleted is half on average
    return effort.seconds(trial.look.model.info, length, texts_read(units, len(trial.scores), exact=exact))


def measure(trial: Trial, finer: bool = True) -> Faithfulness | None:
    """Return the curves, at every step if that is quick or was asked for, else on a grid of steps; None while they are being
    measured or wait for a click. finer: whether to offer every step beside a grid."""
    keys = {exact: ("faithful", *trial.key, tuple(trial.scores), exact) for exact in (True, False)}
    every, fewer = seconds(trial, True), seconds(trial, False)
    exact = every <= LONG or is_begun(keys[True])
    if not exact:
        if waits := fewer > LONG and not is_begun(keys[False]):
            say(HERE, "takes long")
            offer(f"Measure some of the steps ({format_duration(fewer)})", keys[False])
        if every <= LONGEST and (finer or waits):
            offer(f"Measure every step ({format_duration(every)})", keys[True])
        if waits:
            return None
    return jobs.result(
        keys[exact],
        lambda report: faithfulness(trial.question, trial.scores, exact=exact, report=report),
        "Reading changed texts",
    )
