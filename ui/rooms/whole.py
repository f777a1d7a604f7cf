"""Turns a room's request for a run into a run of the whole page, where one is needed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from streamlit import runtime
from streamlit.components.v2.bidi_component.constants import EVENT_DELIM
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.util import calc_hash

from ui.rooms.states import Event
from ui.serving.leaving import opens_for, session_of
from ui.state import ROOM_SEAT, of_visit

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ui.rooms.seat import Seat


class Whole:
    """ASGI middleware that turns such a request into a whole run. The strip is in the stage, so it requests a run of the stage
    alone, which is enough for a text; for anything else that run would have to request the page, this one or another: two runs
    for each follower."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket" or not scope["path"].endswith("/_stcore/stream"):
            return await self.app(scope, receive, send)
        session = ""

        async def receive_next() -> Message:
            message = await receive()
            request = message.get("bytes") or b""
            if session and b'"run"' in request and (seat := seat_of(session)) and (page := seat.goes_on_with()):
                if (whole := of_the_page(request, page)) != request:
                    seat.happen(Event.SENT_TO_PAGE, page)
                    opens_for(session, page)
                return {**message, "bytes": whole}
            return message

        async def send_on(message: Message) -> None:
            nonlocal session
            session = session or session_of(message.get("bytes") or b"")
            await send(message)

        await self.app(scope, receive_next, send_on)


def seat_of(session: str) -> Seat | None:
    """Return the seat of the visitor in a session."""
    visit = runtime.get_instance().get_app_session(session)
    return of_visit(visit, ROOM_SEAT) if visit else None


def of_the_page(request: bytes, page: str) -> bytes:
    """Rewrite a message in which a room's strip requests a run of its stage to one that requests a whole page, by its name in an
    address; return any other message unchanged."""
    try:
        whole = BackMsg.FromString(request)
    except DecodeError:
        return request
    rerun, widgets = whole.rerun_script, whole.rerun_script.widget_states.widgets
    if not rerun.fragment_id or not (
        strip := next((widget.id for widget in widgets if asks_for_a_run(widget.json_trigger_value)), "")
    ):
        return request
    rerun.fragment_id = ""
    if (there := calc_hash(page)) != rerun.page_script_hash:
        rerun.page_script_hash, rerun.query_string = there, ""  # nothing of an address comes along, as in `leaving.open_page`
        own = strip.removeprefix(f"{STREAMLIT_INTERNAL_KEY_PREFIX}_").partition(EVENT_DELIM)[0]
        if all(widget.id != own for widget in widgets):
            widgets.add(id=own, json_value="{}")  # else it is let go with its page, before it is asked what was pressed
    return whole.SerializeToString()


def asks_for_a_run(trigger: str) -> bool:
    """Return whether a message of a strip requests a run, and nothing else."""
    try:
        requests = [event["value"]["ask"] for event in json.loads(trigger)]
    except (ValueError, LookupError, TypeError):
        return False
    return bool(requests) and set(requests) == {"run"}
