"""The progress of loading a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """A state of loading. stage: "download" | "read" | "prepare"; done and total in bytes (0 of 0 while preparing)."""

    stage: str
    done: int = 0
    total: int = 0


# Called from any thread, a few times a second at the most that matters; it stops the loading by raising `Cancelled`.
Report = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Ignore the progress."""
