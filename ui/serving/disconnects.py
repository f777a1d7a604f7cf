"""Frees the server's data for a visitor whose browser has left."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

from streamlit import runtime
from streamlit.runtime import RuntimeState

from ui.memory import malloc, visitors

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

SOON = (
    1.0  # seconds after which what was freed is given back: by then others of a class have gone too, and Streamlit's part of it
)


class Disconnects:
    """ASGI middleware that drops this data whenever a connection to a page ends, and soon afterwards gives memory back to the
    system.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.waits = app, False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        finally:
            if scope["type"] == "websocket":
                loop = asyncio.get_running_loop()
                loop.run_in_executor(None, visitors.let_go)
                if not self.waits:
                    self.waits = True
                    loop.call_later(SOON, self.give_back)

    def give_back(self) -> None:
        self.waits = False
        asyncio.get_running_loop().run_in_executor(None, give_back)


def give_back() -> None:
    """Give memory back to the system. Reference cycles of ended visits are collected only while no visitor would have to wait."""
    if runtime.exists() and runtime.get_instance().state is RuntimeState.NO_SESSIONS_CONNECTED:
        gc.collect()
    malloc.give_back()
