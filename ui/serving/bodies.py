"""Limits the bodies of requests on every route: no page sends a body longer than a teacher's key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST = 4096  # bytes: a key is shorter than 100, and a program that sends a little more may still be told what is wrong with it
TOO_LARGE = f"No page sends more than {LARGEST:,} bytes with a request, so this server reads no more.\n"


class Bodies:
    """ASGI middleware that passes a body on once all of it is there, and refuses one as soon as it gets too long.

    The connection ends with the refusal: otherwise the sender would go on, and the server would read and drop the rest.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else {}
        if "content-length" not in headers and "transfer-encoding" not in headers:
            return await self.app(scope, receive, send)
        body, more = b"", not announces_too_much(headers.get("content-length", ""))
        refused = not more
        while more and not refused:
            message = await receive()
            if message["type"] != "http.request":  # the browser has gone
                return
            body += message.get("body", b"")
            more, refused = message.get("more_body", False), len(body) > LARGEST
        if refused:
            return await PlainTextResponse(TOO_LARGE, 413, {"Connection": "close"})(scope, receive, send)
        await self.app(scope, after({"type": "http.request", "body": body, "more_body": False}, receive), send)


def announces_too_much(length: str) -> bool:
    return length.isascii() and length.isdecimal() and int(length[:20]) > LARGEST


def after(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that first returns a message that has already arrived."""
    waiting = [first]

    async def next_message() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_message
