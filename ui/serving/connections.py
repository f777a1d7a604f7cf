"""HTTP connections with deadlines: a connection is closed if it is silent, if its request stays incomplete, or if nobody reads
its answer.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, cast

import h11
from starlette.responses import PlainTextResponse
from uvicorn import Config
from uvicorn.middleware.proxy_headers import _TrustedHosts
from uvicorn.protocols.http.h11_impl import H11Protocol

from ui.serving import connection_limit, headers
from ui.serving.deadlines import Deadline, Read
from ui.serving.frames import Frames

if TYPE_CHECKING:
    from collections.abc import Container

    from starlette.types import ASGIApp, Receive, Scope, Send

WHOLE = 20.0  # seconds in which a request must be there, head and body: 16 kB at most, which take a bad mobile line two
PROBES = ("/health", "/ready", "/metrics")  # answered when the server is full, also Streamlit's own below /_stcore
TOO_SLOW = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
FULL = "This server holds as many connections as it can. Try again in a minute.\n"


class Connection(Read, H11Protocol):
    """A connection for requests for pages and files.

    Uvicorn waits without limit for a request to begin and to be completed, and for an answer to be read.
    """

    places = connection_limit.Places()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._whole = Deadline(WHOLE, self.end)
        self._beyond = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if not self.places.take(self, self.client[0] if self.client else ""):
            self._beyond, self.app = True, answer_probes(self.app)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._forget()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """Check whether a request is under way, and start the deadline of an incomplete one."""
        unfinished = self in self.places.networks and self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        self.places.wait(self, unfinished)
        (self._whole.start if unfinished else self._whole.stop)()

    def _forget(self) -> None:
        self.places.leave(self)
        self._whole.stop()
        self.unread.stop()

    def _should_upgrade(self) -> bool:
        return not self._beyond and super()._should_upgrade()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._forget()  # from here on another protocol has the connection, which counts again
        super().handle_websocket_upgrade(event)

    def end(self) -> None:
        """Close the connection: a request was not completed in time."""
        if not self.transport.is_closing():
            if self.conn.their_state is h11.IDLE:  # otherwise it has its answer, or one is being made
                self.transport.write(TOO_SLOW)
            self.transport.close()


def answer_probes(app: ASGIApp) -> ASGIApp:
    """Answer requests while the server is full: monitoring gets its answers, everybody else a sentence."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].endswith(PROBES):
            return await app(scope, receive, send)
        refusal = PlainTextResponse(FULL, 503, {"Connection": "close", "Retry-After": "60"} | headers.of_this_server())
        await refusal(scope, receive, send)

    return answer


class Bounded:
    """ASGI middleware that makes uvicorn use these connections. Streamlit creates uvicorn's config and has no setting for this;
    but uvicorn starts the app before it accepts the first connection, and its config can be changed then."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            config = getattr(getattr(receive, "__self__", None), "config", None)
            if isinstance(config, Config):
                bound(config)
            else:
                logging.getLogger(__name__).warning("Connections have no limits here: the app is not served by `streamlit run`.")
        await self.app(scope, receive, send)


def bound(config: Config) -> None:
    """Make a server with this config use connections with limits."""
    Connection.places = Frames.places = connection_limit.Places(
        connection_limit.allowed(), cast("Container[str]", _TrustedHosts(config.forwarded_allow_ips))
    )
    config.http_protocol_class, config.ws_protocol_class = Connection, Frames
