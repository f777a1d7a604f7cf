"""Limits one visitor's interactions and pages: faster interactions wait, and too many pages are refused with a message."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from ui.memory import addresses, limits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

AT_ONCE = 3.0  # seconds' worth of presses that may come in one go: somebody who holds a key sends thirty a second
TOO_MANY = "Your address has as many pages of Headlight open as this server allows. Close one, and load this page again.\n"

pages: Counter[str] = Counter()  # that are open, by network


class Bucket:
    """A token bucket: it gains a fixed number of drops a second, up to `full`; each interaction takes one or several."""

    def __init__(self, rate: float, full: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.rate, self.full, self._clock = rate, full, clock
        self._drops, self._then = full, clock()

    def take(self, drops: float = 1) -> float:
        """Take one or several drops; return the seconds until they are there, 0 if they are."""
        now = self._clock()
        self._drops = min(self.full, self._drops + (now - self._then) * self.rate) - drops
        self._then = now
        return max(0.0, -self._drops / self.rate)


class Flood:
    """ASGI middleware that slows down floods. Messages that a page sends too fast are not lost: they wait, on that page's own
    line only.

    An address is that of the browser: a proxy that FORWARDED_ALLOW_IPS names is trusted to report it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        address = addresses.network((scope.get("client") or ("",))[0])
        line = scope["type"] == "websocket" and scope["path"].endswith("/_stcore/stream")
        page = scope["type"] == "http" and "text/html" in Headers(scope=scope).get("accept", "")
        if (line or page) and pages[address] >= limits.most(limits.PAGES):
            if page:
                return await PlainTextResponse(TOO_MANY, 429)(scope, receive, send)
            await receive()
            return await send({"type": "websocket.close", "code": 1013, "reason": ""})
        if not line:
            return await self.app(scope, receive, send)
        pages[address] += 1
        try:
            await self.app(scope, in_time(receive), send)
        finally:
            pages[address] -= 1
            if not pages[address]:
                del pages[address]


def in_time(receive: Receive) -> Receive:
    """Return a `receive` with the same messages, none of them sooner than its turn."""
    if (rate := limits.most(limits.REQUESTS)) == float("inf"):
        return receive
    bucket = Bucket(max(1.0, rate), max(1.0, AT_ONCE * rate))

    async def next_message() -> Message:
        message = await receive()
        if message["type"] == "websocket.receive" and (wait := bucket.take()):
            await asyncio.sleep(wait)
        return message

    return next_message
