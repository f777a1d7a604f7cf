"""The route of the line. The code that answers is imported with the first line, so a server's first page comes sooner."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from ui.serving.frames import LINE

if TYPE_CHECKING:
    from starlette.websockets import WebSocket


async def line(socket: WebSocket) -> None:
    from ui.live.route import Line, prove

    with suppress(WebSocketDisconnect):  # the browser has hung up while it was answered
        await socket.accept()
        if visit := await prove(socket):
            await Line(socket, visit).serve()


ROUTES = (WebSocketRoute(LINE, line),)
