"""A follower's page goes on with the whole page at once where that is going to be necessary."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash

from ui.rooms import whole
from ui.rooms.states import Machine, Way


class Seat:
    """As much of a seat as says where the class is."""

    def __init__(self, page: str) -> None:
        self.goes_on_with, self.states = lambda: page, Machine(Way.FOLLOWING)
        self.happen = self.states.happen


STREAM = {"type": "websocket", "path": "/_stcore/stream"}


def asked(ask: str = "run", fragment: str = "stage", strip: bool = True) -> bytes:
    """What a browser sends: of the strip of a room, or else of a text box into which somebody writes the same."""
    message = BackMsg()
    message.rerun_script.fragment_id = fragment
    message.rerun_script.query_string, message.rerun_script.page_script_hash = "room=ABCDEF", calc_hash("type")
    widget = message.rerun_script.widget_states.widgets.add()
    trigger = json.dumps([{"event": "chosen", "value": {"ask": ask, "n": 1}}])
    if strip:
        widget.id, widget.json_trigger_value = "$$STREAMLIT_INTERNAL_KEY_room__events", trigger
    else:
        widget.id, widget.string_value = "text", trigger
    return message.SerializeToString()


def test_only_the_place_changes_where_the_strip_asks_for_a_run():
    before, after = (BackMsg.FromString(data).rerun_script for data in (asked(), whole.of_the_page(asked(), "type")))
    assert before.fragment_id == "stage" and after.fragment_id == ""
    before.fragment_id = ""
    assert before == after


def test_of_another_page_nothing_comes_along_from_the_address():
    before, after = (BackMsg.FromString(data).rerun_script for data in (asked(), whole.of_the_page(asked(), "layers")))
    assert (after.page_script_hash, after.query_string, after.fragment_id) == (calc_hash("layers"), "", "")
    states = after.widget_states.widgets
    assert states[:-1] == before.widget_states.widgets, "what was touched meanwhile is seen"
    assert (states[-1].id, states[-1].json_value) == ("room", "{}"), "its strip is there when it is asked"


@given(st.binary(max_size=60))
def test_what_is_no_such_message_stays_as_it_is(junk):
    try:
        fine = BackMsg.FromString(junk).rerun_script.fragment_id
    except Exception:
        fine = ""
    if not fine:
        assert whole.of_the_page(junk, "type") == junk
    for other in (asked(strip=False), asked(fragment=""), asked("out"), asked("leave")):
        assert whole.of_the_page(other, "type") == other


@pytest.mark.parametrize(
    ("page", "message", "changes"),
    [
        ("type", asked(), True),
        ("layers", asked(), True),
        ("", asked(), False),
        ("type", asked("out"), False),
        ("layers", asked(strip=False), False),
    ],
)
def test_a_line_asks_for_the_page_where_its_visitor_goes_on_with_it(monkeypatch, page, message, changes):
    seen, opened, seat = [], [], Seat(page)
    monkeypatch.setattr(whole, "opens_for", lambda *one: opened.append(one))

    async def app(scope, receive, send) -> None:
        seen.append((await receive())["bytes"])  # before anybody's visit is known
        first = ForwardMsg()
        first.new_session.initialize.session_id = "visit"
        await send({"type": "websocket.send", "bytes": first.SerializeToString()})
        seen.append((await receive())["bytes"])

    async def receive() -> dict:
        return {"type": "websocket.receive", "bytes": message}

    async def send(message) -> None:
        pass

    monkeypatch.setattr(whole, "seat_of", lambda session: seat if session == "visit" else None)
    with ThreadPoolExecutor(1) as other:
        other.submit(asyncio.run, whole.Whole(app)(STREAM, receive, send)).result(30)
    assert seen[0] == message and (seen[1] != message) == changes
    assert (seat.states.sent_page, opened) == ((page, [("visit", page)]) if changes else ("", []))


def test_what_is_no_page_is_passed_on():
    passed = []

    async def app(*given) -> None:
        passed.append(given)

    with ThreadPoolExecutor(1) as other:
        for scope in ({"type": "http", "path": "/"}, {"type": "websocket", "path": "/rooms/ABCDEF/line"}):
            other.submit(asyncio.run, whole.Whole(app)(scope, None, None)).result(30)
            assert passed[-1] == (scope, None, None)
