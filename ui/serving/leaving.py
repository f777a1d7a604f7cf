"""Drops a fragment's messages from a page that its browser is leaving."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn
from urllib.parse import parse_qsl, urlencode

import streamlit as st
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.state.common import user_key_from_element_id
from streamlit.util import calc_hash

from ui.live import visits
from ui.memory import visitors
from ui.menu import FIRST, PAGES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from streamlit.proto.ClientState_pb2 import ClientState

TYPED = "\x01"  # begins the texts that document.js puts into the address while a page is left

_requested: dict[str, RequestedPage] = {}  # by session, while a browser is there


def open_page(name: str) -> NoReturn:
    """Open a page on the server's side, by its name in an address. The present address is dropped, because choices are bound to
    it; and from now on messages of the old page are ignored."""
    opens(name)
    st.switch_page(PAGES / name / "page.py", query_params={})


def opens(name: str) -> None:
    """Note which page the server shows this visitor, by its name in an address. Every run of a whole page calls it."""
    opens_for(visitors.me(), name)


def opens_for(session: str, name: str) -> None:
    """Note the page of a session before such a run."""
    if requested := _requested.get(session):
        requested.open(calc_hash(name or FIRST))


class Leaving:
    """ASGI middleware that drops the requests of fragments on a page that is being left, and brings along what was typed there.

    Between a click that opens another page and that page's first message, the old page is still on screen and goes on sending: a
    key press, a choice in a picture, a timer. Streamlit runs such a request after the new page's run, under the old page's name.
    The browser then discards the new page, has no place for the fragment's messages ("Bad delta path index"), and stays blank. On
    a busy server that moment is long. Also, Back and Forward change only the page, as the menu does: Streamlit would restore the
    choices that the address held at that time. And a request for a page replaces that of a key press for which no run has begun:
    Streamlit would lose its text.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith("/_stcore/stream"):
            return await self.app(scope, receive, send)
        requested, session = RequestedPage(), ""

        async def receive_next() -> Message:
            while (message := await receive())["type"] == "websocket.receive" and message.get("bytes"):
                if forwarded := requested.take(message["bytes"]):
                    note_typed(session, requested)
                    return {**message, "bytes": forwarded}
            return message

        async def send_on(message: Message) -> None:
            nonlocal session
            if not session and (session := session_of(message.get("bytes") or b"")):
                _requested[session] = requested
            await send(message)

        try:
            await self.app(scope, receive_next, send_on)
        finally:
            if _requested.get(session) is requested:
                del _requested[session]


def note_typed(session: str, requested: RequestedPage) -> None:
    """Note the texts in the last message of a browser, and whether it leaves a page."""
    if requested.leaves:
        visits.bring(session, requested.brought, requested.knows_typed)
    visits.note_sent(session, requested.typed)


def session_of(message: bytes) -> str:
    """Return the session that a message of the server begins; "" for any other message."""
    try:
        return str(ForwardMsg.FromString(message).new_session.initialize.session_id)
    except DecodeError:
        return ""


class RequestedPage:
    """The page that a browser has requested, or the server has opened, and the pages that are being left until the new one
    answers. (A page that the server opens in a visit's first run is known when the server sends its first message.)"""

    def __init__(self) -> None:
        self.page, self.left = "", set[str]()
        self.texts: dict[str, str] = {}  # in the browser's boxes, by their names
        self.typed: dict[str, str] = {}  # those that are new in the last message
        self.leaves = False  # whether the last message asks for another page
        self.knows_typed = False  # whether the last message has the texts that were typed on a page
        self.brought: dict[str, str] = {}  # those of them that no box has sent

    def open(self, page: str) -> None:
        """Note that the server opens a page, perhaps one that the browser is just leaving."""
        if page != self.page:
            self.page, self.left = page, (self.left | {self.page}) - {page}

    def take(self, message: bytes) -> bytes:
        """Return the message to pass on; b"" drops it, because a fragment on a page that is being left has sent it. Invalid
        messages are left to Streamlit."""
        try:
            whole = BackMsg.FromString(message)
        except DecodeError:
            return message
        if whole.WhichOneof("type") != "rerun_script":  # a file that is fetched, a heartbeat: they ask for no page
            return message
        sent = whole.rerun_script
        self.typed, self.leaves = {}, False
        self.take_texts_in_address(sent)
        page = sent.page_script_hash or calc_hash(sent.page_name or FIRST)  # at first it is named as an address names it
        if sent.fragment_id:
            if page in self.left:
                return b""
            self.page, self.left = page, set()
            self.note_texts(sent)
            return whole.SerializeToString() if self.knows_typed else message
        known, self.leaves = bool(self.page), page != self.page
        self.open(page)
        self.note_texts(sent)
        if sent.is_history_navigation:
            sent.is_history_navigation = False
            if known:  # a page that is left before it has bound its choices would leave those of its address to the next one
                sent.query_string = ""
        return whole.SerializeToString()

    def take_texts_in_address(self, run: ClientState) -> None:
        """Take the texts that were typed out of a request's address. (Streamlit goes on sending such an address for a while.)"""
        values = parse_qsl(run.query_string, keep_blank_values=True)
        texts = {name: text.removeprefix(TYPED) for name, text in values if text.startswith(TYPED)}
        self.brought = {name: text for name, text in texts.items() if text != self.texts.get(name)}
        self.knows_typed = bool(texts)
        if texts:
            run.query_string = urlencode([(name, text) for name, text in values if not text.startswith(TYPED)])

    def note_texts(self, run: ClientState) -> None:
        """Note the texts in the browser's boxes, and those that are new since the last message."""
        texts = {
            user_key_from_element_id(widget.id) or "": widget.string_value
            for widget in run.widget_states.widgets
            if widget.WhichOneof("value") == "string_value"
        }
        self.typed = {name: text for name, text in texts.items() if text != self.texts.get(name)}
        self.texts |= texts
