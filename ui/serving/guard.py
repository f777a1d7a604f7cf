"""Accepts only requests that name this server and come from its own pages."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from functools import cache
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocketDisconnected

from ui.memory import measured

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

UPLOADS = "/_stcore/upload_file/"  # Streamlit's, which keeps files in memory; no page of ours asks for one
METRICS = "/_stcore/metrics"  # Streamlit's own, which tell how many visitors there are, and what is kept of them
_READS = ("GET", "HEAD", "OPTIONS")


class Guard:
    """ASGI middleware that refuses foreign names, foreign pages, uploads, and Streamlit's metrics where nobody asked for metrics.

    Another site may let its own name point to this machine's address (DNS rebinding): its requests then reach a server that
    listens on localhost alone, and carry the foreign name in Host. Streamlit would accept them, and would ask an outside host for
    its own address to compare a foreign Origin with.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = refuse(scope) if scope["type"] in ("http", "websocket") else ""
        if not refusal:
            with suppress(WebSocketDisconnected):  # who leaves while an answer is on its way does nothing wrong
                await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse(refusal, 403)(scope, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": ""})  # before accepting it: an answer of 403


def refuse(scope: Scope) -> str:
    """Return the reason why a request is refused, as a sentence; "" if it is accepted."""
    headers = Headers(scope=scope)
    host, origin = headers.get("host", ""), headers.get("origin")
    if not is_own(name_of(f"//{host}")):
        return "This server is not known by that name. Whoever runs it can add the name to HEADLIGHT_HOSTS.\n"
    # A proxy may have put another Host there: a name that the server was told counts as its own.
    foreign = origin is not None and origin.partition("://")[2] != host and name_of(origin) not in given_names()
    if foreign and (scope["type"] == "websocket" or scope["method"] not in _READS):
        return "Pages of other servers may not speak to this one.\n"
    if UPLOADS in scope["path"] and scope.get("method") not in _READS:  # below a base path too
        return "Nothing is uploaded here.\n"
    if scope["path"].endswith(METRICS) and not measured.is_enabled():
        return "Metrics are given where HEADLIGHT_METRICS=1 is set.\n"
    return ""


def name_of(address: str) -> str:
    """Return the host of an address in lower case, without its port; "" if it has none."""
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_own(name: str) -> bool:
    """Return whether a host is this server: an IP address, localhost, this machine's name, or a name in HEADLIGHT_HOSTS."""
    try:
        ip_address(name.partition("%")[0])
        return True
    except ValueError:
        names = given_names()
        return name == "localhost" or name.endswith(".localhost") or name in names or "*" in names or name in machine()


def given_names() -> frozenset[str]:
    """Return the names in HEADLIGHT_HOSTS, which commas separate. `*` stands for every name."""
    return frozenset(name.strip().lower() for name in os.environ.get("HEADLIGHT_HOSTS", "").split(",") if name.strip())


@cache
def machine() -> frozenset[str]:
    """Return the names by which other machines in the room may reach this one."""
    name = socket.gethostname().lower()
    return frozenset(host for host in (name, name.partition(".")[0], f"{name.partition('.')[0]}.local") if host)
