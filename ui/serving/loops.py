"""Gives each session an event loop that takes no file descriptors until it runs.

Streamlit's own loop takes three, even for two minutes after the visit has ended, and never runs here: two hundred visits took six
hundred.

Gain: three file descriptors for each visit, where a server often has only 1,024; no time.
Needless when Streamlit creates that loop where a script first needs it. No upstream issue is known.
"""

from __future__ import annotations

import asyncio
import selectors
from typing import Any

from streamlit.runtime.app_session import AppSession

begin = AppSession.__init__


class Resting(asyncio.SelectorEventLoop):
    """An event loop that opens its file descriptors when it first runs."""

    def __init__(self) -> None:
        self._opened = False
        super().__init__(selectors.SelectSelector())

    def _make_self_pipe(self) -> None:
        if self._opened:
            super()._make_self_pipe()  # type: ignore[misc]

    def _close_self_pipe(self) -> None:
        if self._opened:
            super()._close_self_pipe()  # type: ignore[misc]

    def _write_to_self(self) -> None:
        if self._opened:
            super()._write_to_self()  # type: ignore[misc]

    def run_forever(self) -> None:
        if not self._opened:
            self._opened, self._selector = True, selectors.DefaultSelector()
            self._make_self_pipe()
        super().run_forever()


def begin_resting(session: AppSession, *args: Any, **kwargs: Any) -> None:
    begin(session, *args, **kwargs)
    session._script_event_loop.close()
    session._script_event_loop = Resting()


def rest() -> None:
    """Give all visits of a server such a loop."""
    AppSession.__init__ = begin_resting  # type: ignore[method-assign, assignment]
