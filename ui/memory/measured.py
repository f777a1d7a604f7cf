"""Counts a server's work for metrics, without any visitor's words; only with HEADLIGHT_METRICS=1."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Histogram

SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def is_enabled(environment: Mapping[str, str] = os.environ) -> bool:
    return environment.get("HEADLIGHT_METRICS", "").strip().lower() in ("1", "yes", "on", "true")


@cache
def registry() -> CollectorRegistry:
    """Return the registry of this process's counters and its own use of memory and processor."""
    from prometheus_client import CollectorRegistry, ProcessCollector

    collector_registry = CollectorRegistry()
    ProcessCollector(registry=collector_registry)
    return collector_registry


@cache
def _answers() -> Histogram:
    from prometheus_client import Histogram

    what = "Seconds from a press that reached the server (a key, a control) until its answer is drawn, by page; _count: presses"
    return Histogram("headlight_press_seconds", what, ["page"], buckets=SECONDS, registry=registry())


@contextmanager
def press(page: str) -> Iterator[None]:
    """Count an interaction with a page, and the time that the answer takes inside this `with` block."""
    if not is_enabled():
        yield
        return
    began = time.perf_counter()
    try:
        yield
    finally:
        _answers().labels(page).observe(time.perf_counter() - began)
