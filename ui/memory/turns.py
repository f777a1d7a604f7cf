"""Runs take turns: two cores gain nothing from forty threads at once, and lose half of their time to changing between them."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

PATIENCE = 1.0  # seconds, after which a run begins anyway: who has the turn may be waiting for a model

_turns = threading.BoundedSemaphore(os.cpu_count() or 2)


@contextmanager
def turn() -> Iterator[None]:
    """Wait until fewer runs than there are cores are between the beginning and the end of such a block."""
    mine = _turns.acquire(timeout=PATIENCE)
    try:
        yield
    finally:
        if mine:
            _turns.release()
