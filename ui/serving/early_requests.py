"""Holds a fragment's messages until its session knows the fragment."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ui.serving import waiting_bytes

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send
    from streamlit.proto.ClientState_pb2 import ClientState

MOST = 1000  # messages that wait on a line: half a minute of a key that is held
HELD = 8_000_000  # bytes of them together, two of the longest: a browser whose line ends comes back, and says all at once


class EarlyRequests:
    """ASGI middleware that holds the requests of a fragment until the visit has that fragment.

    After a restart of the server, or after it has forgotten the visit, the old page is still in the browser, and visitors can
    type into it as soon as it is connected. It requests the whole page at once; but until that run has reached the text box,
    Streamlit silently drops each key press, and the box would hold a text that nothing answers. On a fresh server this takes
    seconds.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith("/_stcore/stream"):
            return await self.app(scope, receive, send)
        line = PendingLine(receive, send)
        try:
            await self.app(scope, line.receive, line.send)
        finally:
            line.end()


class PendingLine:
    """The messages between a page and its visit, until a run of the whole page is over."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._session, self._asked, self._over = "", False, False  # asked: for the whole page
        self._waiting: deque[tuple[Message, ClientState]] = deque()
        self._held, self._too_much = 0, False  # bytes that wait, and whether the server has no room for them
        self._coming: asyncio.Future[Message] | None = None
        self._wake = asyncio.Event()

    async def receive(self) -> Message:
        """Return the next message for the server. Requests for a run keep their order; no other message waits."""
        while not self._over or self._waiting or self._coming:
            if self._too_much:  # the browser comes back, and says all that it shows at once
                return {"type": "websocket.disconnect", "code": 1013}
            if self._waiting and not self._is_early(self._waiting[0][1]):
                message, run = self._waiting.popleft()
                self._hold(-len(message["bytes"]))
                self._asked |= not run.fragment_id
                return message
            if (message_received := await self._come()) is None:
                continue
            if (run_asked_for := run_in(message_received)) is None:
                return message_received
            self._waiting.append((message_received, run_asked_for))
            self._hold(len(message_received["bytes"]))
            self._too_much |= len(self._waiting) > MOST or (self._held > HELD and len(self._waiting) > 1)
        return await self._receive()

    def _hold(self, more: int) -> None:
        self._held += more
        waiting_bytes.of_all.note(self, self._held, self._stop)

    def _stop(self) -> None:
        """Close this line: all lines together hold too much, and this one holds most."""
        self._too_much = True
        self._wake.set()

    def _is_early(self, run: ClientState) -> bool:
        """Return whether a run that is under way will bring the requested fragment."""
        return bool(run.fragment_id) and self._asked and not self._over and not has(self._session, run.fragment_id)

    async def _come(self) -> Message | None:
        """Return the browser's next message; None if messages wait and the server sends something first."""
        self._coming = self._coming or asyncio.ensure_future(self._receive())
        if self._waiting:
            wake = asyncio.ensure_future(self._wake.wait())
            either: set[asyncio.Future[Any]] = {self._coming, wake}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            wake.cancel()
            self._wake.clear()
            if not self._coming.done():
                return None
        message = await self._coming
        self._coming = None
        return message

    async def send(self, message: Message) -> None:
        """Send a message to the browser. The server sends one when a run has reached a fragment, and when it is over."""
        if not self._over and (sent := message.get("bytes")):
            self._hear(sent)
        await self._send(message)
        self._wake.set()

    def _hear(self, sent: bytes) -> None:
        try:
            message = ForwardMsg.FromString(sent)
        except DecodeError:
            return
        self._session = self._session or message.new_session.initialize.session_id
        self._over = (
            message.WhichOneof("type") == "script_finished" and message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        )

    def end(self) -> None:
        waiting_bytes.of_all.forget(self)
        if self._coming:
            self._coming.cancel()


def run_in(message: Message) -> ClientState | None:
    """Return the run that a message requests; None for any other message."""
    try:
        whole = BackMsg.FromString(message.get("bytes") or b"")
    except DecodeError:
        return None
    return whole.rerun_script if whole.WhichOneof("type") == "rerun_script" else None


def has(session: str, fragment: str) -> bool:
    """Return whether a visit has a fragment. A visit that the server no longer knows will never have it."""
    if not session:  # it has not begun
        return False
    visit = runtime.get_instance().get_app_session(session)
    return visit is None or visit.has_fragment(fragment)
