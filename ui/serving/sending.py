"""Waits until a run's output is on its way to the browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from ui.memory import own_folder
from ui.serving import logs, packets, replacements

if TYPE_CHECKING:
    import streamlit as st

INTERVAL = 0.01  # seconds: twice the interval at which Streamlit's one sender comes round
PATIENCE = 2.0  # seconds, for a server that is being stopped

_loop: asyncio.AbstractEventLoop | None = None


@asynccontextmanager
async def lifespan(app: st.App) -> AsyncIterator[None]:
    """Remembers the event loop that sends, while the server runs."""
    global _loop
    _loop = asyncio.get_running_loop()
    logs.set_up()
    replacements.install(_loop)
    packets.send_at_once()
    try:
        yield
    finally:
        _loop = None
        own_folder.remove()  # here, because a server that is told to end (SIGTERM) does nothing after this


def wait_until_sent() -> None:
    """Wait a moment on the sender's event loop, at the end of a run.

    A visitor's next run clears their unsent messages: without this pause, nearly everything that is drawn for a fast-typing room
    would be thrown away. The pause runs on the sender's event loop, so it is longer while that is busy.
    """
    if _loop is not None:
        try:
            asyncio.run_coroutine_threadsafe(asyncio.sleep(INTERVAL), _loop).result(PATIENCE)
        except (TimeoutError, RuntimeError):
            return
