"""The jobs that measure the effect of each piece of one text in the other."""

from __future__ import annotations

import numpy as np

from pages.change.texts.comparison import Comparison
from ui import effort
from ui.memory import jobs

WAIT = 20.0  # seconds; a longer measurement says so first and waits for a click


def effects(comparison: Comparison) -> np.ndarray | None:
    """Return the effect of each piece; None while they are measured, or wait for a click. Errors: as `Patches.effects`."""
    rows, columns = comparison.patches.shape(comparison.part)
    time = effort.seconds(
        comparison.look.model.info, len(comparison.look.trace.tokens) + len(comparison.look.trace.target), rows * columns / 2
    )
    if time > WAIT and not effort.is_begun(comparison.key):
        effort.offer(f"Try all {rows * columns:,} pieces ({effort.format_duration(time)})", comparison.key)
        return None

    def work(report: jobs.Report) -> np.ndarray:
        return comparison.patches.effects(comparison.part, comparison.measure, *comparison.answers, report=report)

    return jobs.result(comparison.key, work, "Putting one piece after the other into the other text")


def patched_logs(comparison: Comparison) -> np.ndarray | None:
    """Return the base's prediction with the selected piece, ln p [vocabulary]; None without one, or while it is measured."""
    if comparison.cell is None:
        return None
    cell = comparison.cell

    def work(report: jobs.Report) -> np.ndarray:
        return comparison.patches.read([comparison.patches.edits(comparison.part)[cell]])[0]

    return jobs.result((*comparison.key, cell), work, "Putting the piece into the other text")
