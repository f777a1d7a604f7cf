"""Several runs in a few words: their snapshots at a step, and the spread of a value among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from models.training.live import Snapshot, Training


def snapshot_at(training: Training, step: int) -> Snapshot:
    """Return a run's newest snapshot of that step or an earlier one."""
    return [snapshot for snapshot in list(training.snapshots) if snapshot.step <= max(step, 0)][-1]


def spread(values: Sequence[float], write: Callable[[float], str]) -> str:
    """Format a mean with the lowest and the highest value."""
    if write(min(values)) == write(max(values)):
        return write(values[0])
    return f"{write(sum(values) / len(values))} ({write(min(values))} to {write(max(values))})"
