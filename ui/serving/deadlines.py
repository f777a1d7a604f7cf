"""Deadlines on a connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

UNREAD = 60.0  # seconds in which a browser must take some of what waits for it: about 50 kB, at 1 kB a second

LOOK = 0.05  # seconds in which a server that was busy hears what has come meanwhile: its timers go first


class Deadline:
    """A function that is called after some seconds unless it is stopped before."""

    def __init__(self, seconds: float, then: Callable[[], None]) -> None:
        self._seconds, self._then = seconds, then
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Start the time now, unless it already runs."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._look)

    def _look(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(LOOK, self._then)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Read(asyncio.Protocol):
    """A connection that ends when its browser reads nothing of the waiting data for UNREAD seconds. As a base class it goes
    before one of uvicorn's protocols."""

    transport: Any  # uvicorn's

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.unread = Deadline(UNREAD, self.give_way)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.unread.stop()

    def pause_writing(self) -> None:
        super().pause_writing()
        self.unread.start()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.unread.stop()

    def give_way(self) -> None:
        self.transport.abort()
