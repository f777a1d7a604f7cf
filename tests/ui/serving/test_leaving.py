"""What a browser sends of a page that it is leaving does not reach the page that it has asked for."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.util import calc_hash

from ui import state
from ui.live import visits
from ui.memory import visitors
from ui.serving import leaving
from ui.serving.leaving import Leaving, RequestedPage


def message(page: str, fragment: str = "") -> bytes:
    sent = BackMsg()
    sent.rerun_script.page_script_hash, sent.rerun_script.fragment_id = page, fragment
    return sent.SerializeToString()


def taken(*sent: tuple[str, str]) -> list[bool]:
    asked = RequestedPage()
    return [bool(asked.take(message(*arguments))) for arguments in sent]


def test_a_key_press_on_a_page_that_is_being_left_is_left_out():
    assert taken(("type", "stage"), ("layers", ""), ("type", "stage"), ("layers", "stage")) == [True, True, False, True]


def test_a_page_that_the_server_opens_by_itself_is_answered():
    assert taken(("layers", ""), ("layers", "stage"), ("attention", "stage"), ("attention", "wait")) == [True] * 4


@pytest.mark.parametrize(
    "name", sorted({field.name for field in BackMsg.DESCRIPTOR.oneofs_by_name["type"].fields} - {"rerun_script"})
)
def test_what_asks_for_no_page_leaves_none(name):
    asked, between = RequestedPage(), BackMsg()
    assert asked.take(message("train")) and asked.take(message("train", "stage"))
    field = BackMsg.DESCRIPTOR.fields_by_name[name]
    if field.message_type:
        getattr(between, name).SetInParent()
    else:
        setattr(between, name, True)
    assert asked.take(between.SerializeToString()) == between.SerializeToString()
    assert asked.take(message("train", "stage")), f"{name} is not a page"


@pytest.mark.parametrize("name", ["", "layers"])
def test_a_press_that_the_server_answers_with_another_page_is_not_a_leaving_where_the_visit_began_by_a_link(name):
    first, asked = BackMsg(), RequestedPage()
    first.rerun_script.page_name = name  # as a browser says it before it knows more
    here = calc_hash(name or "type")
    sent = [
        first.SerializeToString(),
        message(here),
        message("attention"),
        message("lessons", "stage"),
        message("lessons", "stage"),
    ]
    assert all(asked.take(message) for message in sent), "there and further by two presses"


def test_nothing_is_heard_of_a_page_that_the_server_leaves_by_itself_while_its_timers_still_run():
    asked = RequestedPage()
    assert asked.take(message("heads")) and asked.take(message("heads", "watch"))
    asked.open("change")
    assert not asked.take(message("heads", "watch")) and not asked.take(message("heads", "stage"))
    assert asked.take(message("change", "stage"))
    asked.open("change")
    assert asked.take(message("change", "stage"))


def test_whoever_is_led_back_from_a_page_that_is_not_for_them_is_heard_where_they_stand():
    asked = RequestedPage()
    assert asked.take(message("type")) and asked.take(message("train"))
    assert not asked.take(message("type", "stage"))
    for page in ("train", "type"):
        asked.open(page)
    assert asked.take(message("type", "stage"))


def test_a_page_knows_its_own_visit_by_what_the_server_says_first_and_no_longer_when_it_has_gone(monkeypatch):
    begins = ForwardMsg()
    begins.new_session.initialize.session_id = "one"
    monkeypatch.setattr(visitors, "me", lambda: "one")
    heard: list = []

    async def app(scope, receive, send):
        await send({"type": "websocket.accept"})
        await receive()
        await send({"type": "websocket.send", "bytes": begins.SerializeToString()})
        leaving.opens("layers")
        while (event := await receive())["type"] != "websocket.disconnect":
            heard.append(event["bytes"])

    async def talk() -> None:
        sent = [message(calc_hash(page), part) for page, part in (("heads", ""), ("heads", "watch"), ("layers", "stage"))]
        messages = iter(
            [*({"type": "websocket.receive", "bytes": message} for message in sent), {"type": "websocket.disconnect"}]
        )

        async def receive():
            return next(messages)

        async def send(_) -> None:
            pass

        await Leaving(app)({"type": "websocket", "path": "/_stcore/stream"}, receive, send)
        assert heard == sent[2:] and not leaving._requested

    with ThreadPoolExecutor(1) as other:
        other.submit(asyncio.run, talk()).result()


def test_none_of_several_pages_that_are_being_left_is_heard():
    sent = [("type", ""), ("layers", ""), ("flow", ""), ("type", "stage"), ("layers", "stage"), ("flow", "stage")]
    assert taken(*sent) == [True, True, True, False, False, True]


def test_going_there_and_back_at_once_ends_on_the_page_asked_for_last():
    assert taken(("type", ""), ("layers", ""), ("type", ""), ("layers", "stage"), ("type", "stage")) == [
        True,
        True,
        True,
        False,
        True,
    ]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "stage"]))))
def test_whoever_asks_for_a_page_gets_it_and_the_page_asked_for_is_always_answered(sent):
    asked, page = RequestedPage(), ""
    for name, fragment in sent:
        page = page if fragment else name
        passed_on = asked.take(message(name, fragment))
        assert passed_on or (fragment and name != page)


@given(st.binary(max_size=50))
def test_what_is_no_message_is_left_to_streamlit(noise):
    assert not noise or RequestedPage().take(noise)


def test_back_and_forward_ask_for_a_page_as_the_menu_does():
    sent = BackMsg()
    sent.ParseFromString(message("layers"))
    sent.rerun_script.is_history_navigation = True
    assert RequestedPage().take(sent.SerializeToString()) == message("layers")


def test_back_brings_no_choices_of_an_old_address_but_a_browser_that_comes_back_does():
    sent = BackMsg()
    sent.ParseFromString(message("layers"))
    sent.rerun_script.is_history_navigation = True
    sent.rerun_script.query_string = "text=old"
    again, open_already = RequestedPage(), RequestedPage()
    open_already.take(message("type"))
    assert open_already.take(sent.SerializeToString()) == message("layers")
    assert BackMsg.FromString(again.take(sent.SerializeToString())).rerun_script.query_string == "text=old"


def with_text(page: str, fragment: str, text: str) -> bytes:
    sent = BackMsg.FromString(message(page, fragment))
    for key, value in (("text", text), ("None", "no key")):
        sent.rerun_script.widget_states.widgets.add(id=f"$$ID-0a1b-{key}", string_value=value)
    return sent.SerializeToString()


def test_what_a_browser_sends_comes_along_to_the_next_page_unless_a_run_has_it(monkeypatch):
    """Of a page that is left already nothing comes along, nor what no box has sent since a run of it."""
    visit = visits.Visit("one", boxes={"text": state.TEXT})
    monkeypatch.setitem(visits._visits, "one", visit)
    monkeypatch.setattr(visitors, "me", lambda: "one")
    requested = RequestedPage()

    def hear(*messages: bytes) -> dict[state.Key[str], str]:
        for heard in messages:
            if requested.take(heard):
                leaving.note_typed("one", requested)
        return visits.take_brought()

    begin = [message("space"), with_text("space", "stage", "a"), with_text("space", "stage", "ab")]
    assert hear(*begin) == {}
    visits.settle(state.TEXT, "a")
    assert hear(message("type"), with_text("space", "stage", "abc")) == {state.TEXT: "ab"}
    assert hear(with_text("type", "stage", "ab"), with_text("type", "stage", "abc")) == {}
    visits.settle(state.TEXT, "abc")
    assert hear(with_text("type", "picture", "abc"), message("space")) == {}
    held = BackMsg.FromString(message("layers"))  # what a box holds back until a run ends
    held.rerun_script.query_string = "level=expert&text=ab&text=%01abc+d%E2%86%B5e&other=%01x"
    assert hear(held.SerializeToString()) == {state.TEXT: "abc d↵e"}
    held.rerun_script.page_script_hash = "type"
    held.rerun_script.query_string = "level=expert&text=%01"
    assert hear(with_text("layers", "stage", "ab"), held.SerializeToString()) == {state.TEXT: ""}
    assert BackMsg.FromString(requested.take(held.SerializeToString())).rerun_script.query_string == "level=expert"


def test_only_such_messages_of_a_web_socket_are_left_out():
    passed_on = [
        {"type": "websocket.connect"},
        {"type": "websocket.receive", "bytes": message("type")},
        {"type": "websocket.receive", "bytes": message("layers")},
        {"type": "websocket.receive", "text": "hello"},
        {"type": "websocket.disconnect"},
    ]
    sent = [*passed_on[:3], {"type": "websocket.receive", "bytes": message("type", "stage")}, *passed_on[3:]]
    heard: list = []

    async def app(scope, receive, send):
        while (event := await receive())["type"] != "websocket.disconnect":
            heard.append(event)
        heard.append(event)

    messages = iter(sent)

    async def receive():
        return next(messages)

    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        other.submit(asyncio.run, Leaving(app)({"type": "websocket", "path": "/_stcore/stream"}, receive, None)).result()
    assert heard == passed_on
