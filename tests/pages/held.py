"""Work of a page that waits until a test lets it, so that something else can happen meanwhile."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from models.errors import Cancelled


class Held:
    """Some work that begins only when it is let, and reports all the while."""

    def __init__(self, work: Callable[..., Any]):
        self.work = work
        self.begun, self.let, self.stopped = threading.Event(), threading.Event(), threading.Event()

    def __call__(self, *given: Any, report: Callable[[float, str], None], **more: Any) -> Any:
        self.begun.set()
        try:
            while not self.let.wait(0.01):
                report(0.5, "half of it")
        except Cancelled:
            self.stopped.set()
            raise
        return self.work(*given, report=report, **more)
