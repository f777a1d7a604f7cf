"""What a browser sends when it goes from one page to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.util import calc_hash

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


FIRST = "type"  # the page of the bare address


class Leaving:
    """ASGI middleware that leaves out what a fragment asks for on a page that is being left.

    Between a press on another page and that page's first message, the old page stands there and goes on sending: a key press, a
    picture's choice, a timer. Streamlit runs such a request after the new page's run, under the old page's name. The browser
    then throws away what the new page has placed, has no place for what the fragment sends ("Bad delta path index"), and stays
    blank. On a busy server that moment is long. And Back and forward change the page alone, as the menu does: Streamlit would
    bring back the choices that the address held at that time.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = Asked()

        async def receive_next() -> Message:
            while (message := await receive())["type"] == "websocket.receive" and message.get("bytes"):
                if kept := asked.take(message["bytes"]):
                    return {**message, "bytes": kept}
            return message

        await self.app(scope, receive_next if scope["type"] == "websocket" else receive, send)


class Asked:
    """The page that a browser has asked for, and those that it is leaving until it answers from there. (A page that the server
    opens by itself is asked for by nobody: it is known when it first says something.)"""

    def __init__(self) -> None:
        self.page, self.left = "", set[str]()

    def take(self, message: bytes) -> bytes:
        """A message as it goes on, b"" for none: what a fragment says on a page that is being left. What is no message is left to
        Streamlit."""
        try:
            whole = BackMsg.FromString(message)
        except DecodeError:
            return message
        if whole.WhichOneof("type") != "rerun_script":  # a file that is fetched, a heartbeat: they ask for no page
            return message
        sent = whole.rerun_script
        page = sent.page_script_hash or calc_hash(sent.page_name or FIRST)  # at first it is named as an address names it
        if sent.fragment_id:
            if page in self.left:
                return b""
            self.page, self.left = page, set()
            return message
        if page != self.page:
            self.page, self.left = page, (self.left | {self.page}) - {page}
        if sent.is_history_navigation:
            sent.is_history_navigation = False
            return whole.SerializeToString()
        return message
