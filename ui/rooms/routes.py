"""The routes of rooms. The code that answers is imported with the first room, so a server's first page comes sooner."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocketDisconnect

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket


async def lead(request: Request) -> Response:
    from ui.rooms import route

    return await route.lead(request)


async def there(request: Request) -> Response:
    from ui.rooms import route

    return await route.there(request)


async def line(socket: WebSocket) -> None:
    from ui.rooms import route

    with suppress(WebSocketDisconnect):  # they have hung up while they were answered
        await route.line(socket)


ROUTES = (
    Route("/rooms/{code}/lead", lead, methods=["GET", "POST"]),
    Route("/rooms/{code}/there", there, methods=["POST"]),
    WebSocketRoute("/rooms/{code}/line", line),
)
