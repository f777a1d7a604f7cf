"""What a browser still sends of a page that it has left already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit.proto.BackMsg_pb2 import BackMsg

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Leaving:
    """ASGI middleware that leaves out what a fragment asks for on a page that is being left.

    Between a press on another page and that page's first message, the old page stands there and goes on sending: a key press, a
    picture's choice, a timer. Streamlit runs such a request after the new page's run, under the old page's name. The browser
    then throws away what the new page has placed, has no place for what the fragment sends ("Bad delta path index"), and stays
    blank. On a busy server that moment is long.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Asked()

        async def receive_next() -> Message:
            message = await receive()
            while message["type"] == "websocket.receive" and not asked.take(message.get("bytes") or b""):
                message = await receive()
            return message

        await self.app(scope, receive_next if scope["type"] == "websocket" else receive, send)


class Asked:
    """The page that a browser has asked for, and whether it has answered from there."""

    def __init__(self) -> None:
        self.page, self.there = "", True

    def take(self, message: bytes) -> bool:
        """Whether a message is for the page that was asked for, or asks for one; what is no message is left to Streamlit."""
        try:
            sent = BackMsg.FromString(message).rerun_script
        except DecodeError:
            return True
        if sent.fragment_id:
            self.there = self.there or sent.page_script_hash == self.page
            return self.there
        if sent.page_script_hash:
            self.page, self.there = sent.page_script_hash, sent.page_script_hash == self.page
        return True
