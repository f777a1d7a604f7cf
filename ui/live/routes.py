"""The route of the line. The code that answers is imported for a visitor with a page, so a server's first page comes sooner."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocketDisconnect

from ui.live import visits
from ui.memory import visitors
from ui.serving.frames import LINE

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from ui.live.visits import Visit

PROOF = 10.0  # seconds in which a browser must send its key
REFUSED = 4401  # close code: no such key, or as many lines as a page may have
LINES = 3  # that a page may have open: an old one may not know yet that it is over


async def line(socket: WebSocket) -> None:
    with suppress(WebSocketDisconnect):  # the browser has hung up while it was answered
        await socket.accept()
        if visit := await prove(socket):
            # Not before: the page of a server that was started again asks for a line while its first run imports the same
            # modules, and where two threads begin a package at two ends, the import fails for both.
            from ui.live.route import Line

            await Line(socket, visit).serve()


async def prove(socket: WebSocket) -> Visit | None:
    """Return the visit whose key a browser sends first; None for none, and then the line is closed."""
    try:
        async with asyncio.timeout(PROOF):
            key = await socket.receive_text()
    except (TimeoutError, KeyError):
        key = ""
    visit = visits.of_key(key)
    if visit is None or visit.lines >= LINES or not visitors.is_here(visit.session):
        await socket.close(REFUSED)
        return None
    return visit


ROUTES = (WebSocketRoute(LINE, line),)
