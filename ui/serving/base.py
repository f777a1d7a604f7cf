"""Begins each HTML document with what has to be there before Streamlit's client.

That is where the server is: a client on a page such as `/attention` otherwise tries `/attention/_stcore/…` first, which is two
errors in each visitor's console. And a listener to Back and Forward that comes before the client's: see `bringWhatIsTyped` in
`document.js`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEAD = b"<head>"
# The page's own files stand beside it ("./static/…"), so the server does too.
SERVER = b'window.__streamlit = { BACKEND_BASE_URL: new URL(".", location.href).href };'
BACK = b'addEventListener("popstate", () => window.headlightLeave?.());'
SCRIPT = b"<script>" + SERVER + BACK + b"</script>"


class Based:
    """ASGI middleware that writes the script into each HTML document."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or "text/html" not in Headers(scope=scope).get("accept", ""):
            return await self.app(scope, receive, send)
        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]  # a document of few kilobytes
        start: Message | None = None
        parts: list[bytes] = []

        async def send_with(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start" and "text/html" in Headers(raw=message["headers"]).get(
                "content-type", ""
            ):
                start = message
            elif start is None or message["type"] != "http.response.body":
                await send(message)
            else:
                parts.append(message.get("body", b""))
                if not message.get("more_body"):
                    body = b"".join(parts).replace(HEAD, HEAD + SCRIPT, 1)
                    MutableHeaders(scope=start)["content-length"] = str(len(body))
                    await send(start)
                    await send({"type": "http.response.body", "body": body})

        await self.app({**scope, "headers": plain}, receive, send_with)
