"""Headers of every response: the browser loads nothing from other hosts and sends nothing to them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Streamlit brings scripts and styles within its messages, mounts them from blobs and reads its protocol in WebAssembly, Plotly
# makes functions of texts to draw many points, and BertViz's page has its scripts within it: so the "unsafe" words are needed.
# What holds is that no file comes from another host, that no form, request, picture or line goes to one, and that no attribute of
# an element is a script. No policy keeps a script that has got into a page all the same from leading the browser elsewhere
# (`navigate-to` was never built) or from opening a WebRTC connection: `webrtc 'block'` is an error in the console of each browser
# that does not know it, and Chromium 156 does not. That nobody's text becomes a script is therefore the work of the pages.
POLICY = (
    "default-src 'self'",
    "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "script-src-attr 'none'",
    "worker-src 'self' blob:",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "media-src 'self' data: blob:",
    "frame-src 'self' data: blob:",
    "connect-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
)


def others(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the headers by their names. HEADLIGHT_FRAMES: origins, separated by spaces, whose pages may embed this one."""
    frames = " ".join(["'self'", *environment.get("HEADLIGHT_FRAMES", "").replace(";", " ").replace(",", " ").split()])
    return {
        "Content-Security-Policy": "; ".join([*POLICY, f"frame-ancestors {frames}"]),
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",  # a text stands in the address
        "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
        "Cross-Origin-Opener-Policy": "same-origin",  # who opens this page, or is opened by it, cannot reach into it
        "Cross-Origin-Resource-Policy": "same-origin",  # no other site shows a picture or runs a script of this one
    }


of_this_server = cache(others)


class Sealed:
    """ASGI middleware that adds these headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(of_this_server())
            await send(message)

        await self.app(scope, receive, send_with if scope["type"] == "http" else send)
