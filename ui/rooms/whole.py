"""A run that a room asks for, where it is going to be one of the whole page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit import runtime
from streamlit.proto.BackMsg_pb2 import BackMsg

from ui.serving.leaving import session_of
from ui.state import ROOM_SEAT, of_visit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ui.rooms.seat import Seat


class Whole:
    """ASGI middleware that has it be one from its beginning. The strip stands in the stage, so it asks for a run of that alone,
    which is enough for a text; for anything else that run would begin, and ask for the page: two runs for each follower."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith("/_stcore/stream"):
            return await self.app(scope, receive, send)
        session = ""

        async def receive_next() -> Message:
            message = await receive()
            asked = message.get("bytes") or b""
            if session and b'"run"' in asked and goes_on_with_the_page(session):
                return {**message, "bytes": of_the_page(asked)}
            return message

        async def send_on(message: Message) -> None:
            nonlocal session
            session = session or session_of(message.get("bytes") or b"")
            await send(message)

        await self.app(scope, receive_next, send_on)


def goes_on_with_the_page(session: str) -> bool:
    """Whether whoever is in that session follows to what takes a run of the page that they are on."""
    visit = runtime.get_instance().get_app_session(session)
    seat: Seat | None = of_visit(visit, ROOM_SEAT) if visit else None
    return bool(seat and seat.goes_on_with_the_page())


def of_the_page(asked: bytes) -> bytes:
    """A message in which the strip of a room asks for a run of its stage, as one for the whole page; any other as it is."""
    try:
        whole = BackMsg.FromString(asked)
    except DecodeError:
        return asked
    sent = whole.rerun_script
    if not sent.fragment_id or not any('"ask"' in one.json_trigger_value for one in sent.widget_states.widgets):
        return asked
    sent.fragment_id = ""
    return whole.SerializeToString()
