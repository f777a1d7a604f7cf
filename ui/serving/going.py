"""When a browser has gone, what the server keeps for its visitor goes too."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ui.memory import freed, visitors

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class Going:
    """ASGI middleware that has it let go whenever a connection to a page ends."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive, send)
        finally:
            if scope["type"] == "websocket":
                asyncio.get_running_loop().run_in_executor(None, _tidy)


def _tidy() -> None:
    visitors.let_go()
    freed.give_back()
