"""What a run draws arrives as Streamlit would send it, in the same order, and with less coming and going."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from streamlit import runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.runtime import Runtime
from streamlit.runtime.session_manager import SessionClientDisconnectedError
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager

from tests.ui.serving.replaced import needs
from ui.serving import bundles

pytestmark = needs("bundles")


@pytest.fixture
def session(monkeypatch):
    """As much of a session as its event loop, on the loop of the test; it counts how often that is woken."""
    woken = []

    def call(loop, do) -> None:
        woken.append(do)
        loop._event_loop.call_soon_threadsafe(do)

    monkeypatch.setattr(bundles, "call_one_by_one", call)
    return SimpleNamespace(_event_loop=None, woken=woken)


def run(session, work) -> None:
    async def begin() -> None:
        session._event_loop = asyncio.get_running_loop()
        await work(bundles.Handed(session._event_loop))

    with ThreadPoolExecutor(1) as other:  # a worker that also drives browsers has an event loop on this thread
        other.submit(asyncio.run, begin()).result(30)


def test_what_threads_hand_on_is_done_once_and_each_in_its_order(session):
    done = []

    def hand(handed, thread: int) -> None:
        for number in range(500):
            handed.call(session, lambda number=number: done.append((thread, number)))

    async def work(handed) -> None:
        await asyncio.gather(*(asyncio.to_thread(hand, handed, thread) for thread in range(4)))
        await asyncio.sleep(0)

    run(session, work)
    assert len(done) == 2000
    for thread in range(4):
        assert [number for thread_number, number in done if thread_number == thread] == list(range(500))


def test_a_busy_loop_is_woken_once(session):
    done = []

    async def work(handed) -> None:
        for number in range(40):
            handed.call(session, lambda number=number: done.append(number))
        assert not done, "not before the loop comes round"
        await asyncio.sleep(0)
        handed.call(session, lambda: done.append("later"))
        await asyncio.sleep(0)

    run(session, work)
    assert done == [*range(40), "later"] and len(session.woken) == 2


def test_what_goes_wrong_takes_nothing_else_with_it(session):
    done, errors = [], []

    async def work(handed) -> None:
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: errors.append(context["exception"]))
        for number in range(4):
            handed.call(session, lambda number=number: done.append(1 // number))
        for _ in range(3):
            await asyncio.sleep(0)

    run(session, work)
    assert done == [1, 0, 0] and [type(error) for error in errors] == [ZeroDivisionError]


def test_a_session_of_another_loop_goes_streamlits_way(session):
    async def work(handed) -> None:
        asked = []
        handed.call(SimpleNamespace(_event_loop=SimpleNamespace(call_soon_threadsafe=asked.append)), print)
        assert asked == [print]

    run(session, work)


def test_a_run_that_has_ended_is_heard_of_before_the_next_begins(session, monkeypatch):
    """Streamlit ignores what comes from a thread once there is another: the end of a run would never reach the browser."""
    heard, session.runner = [], "first"
    monkeypatch.setattr(bundles, "begin_run", lambda session, request: setattr(session, "runner", request))

    async def work(handed) -> None:
        handed.call(session, lambda: heard.append(session.runner))
        handed.begin_run(session, "second")
        await asyncio.sleep(0)

    run(session, work)
    assert heard == ["first"] and session.runner == "second"


@pytest.fixture
def visit(monkeypatch):
    """A session with messages that wait, and what was sent to its browser. room: how many that takes."""
    made = SimpleNamespace(id="me", waiting=[], sent=[], room=10_000, there=True)

    def send(info, message) -> None:
        if len(made.sent) == made.room:
            raise SessionClientDisconnectedError
        made.sent.append(message)

    manager = SimpleNamespace(get_active_session_info=lambda name: made if made.there and name == "me" else None)
    monkeypatch.setattr(bundles, "flush", lambda item: item.waiting)
    monkeypatch.setattr(runtime, "get_instance", lambda: SimpleNamespace(_session_mgr=manager, _send_message=send))
    return made


@pytest.mark.parametrize("count", [0, 1, 2, 43, 100, 101, 350])
def test_all_is_sent_in_its_order_and_what_is_left_goes_one_by_one(visit, count):
    visit.waiting = list(range(count))
    left = bundles.send(visit)
    assert visit.sent + left == list(range(count))
    assert bool(left) == bool(count) and len(visit.sent) <= bundles.MOST


def test_of_a_browser_that_takes_no_more_streamlit_hears_by_itself(visit):
    visit.waiting, visit.room = list(range(20)), 5
    assert bundles.send(visit) == list(range(5, 20)) and visit.sent == list(range(5))


def test_who_is_not_connected_is_sent_nothing(visit):
    visit.waiting, visit.there = [1, 2], False
    assert bundles.send(visit) == [1, 2] and not visit.sent


def test_the_server_is_told_once_until_it_looks(monkeypatch):
    calls = []
    looks = SimpleNamespace(is_set=lambda: bool(calls))
    monkeypatch.setattr(bundles, "tell_each_time", calls.append)
    server = SimpleNamespace(_get_async_objs=lambda: SimpleNamespace(need_send_data=looks))
    for _ in range(3):
        bundles.tell_once(server)
    assert calls == [server]


def test_streamlit_still_goes_through_these_doors(monkeypatch):
    """Their names are Streamlit's own, and private: a version that has others would go one by one again, without a word."""
    for kind, name in (
        (AppSession, "_call_soon_on_event_loop"),
        (AppSession, "flush_browser_queue"),
        (Runtime, "_enqueued_some_message"),
    ):
        monkeypatch.setattr(kind, name, getattr(kind, name))
    bundles.hand_on(None)
    assert AppSession.flush_browser_queue is bundles.send and Runtime._enqueued_some_message is bundles.tell_once
    assert "_call_soon_on_event_loop" in AppSession._on_scriptrunner_event.__code__.co_names
    assert {"flush_browser_queue", "_send_message"} <= set(Runtime._loop_coroutine.__code__.co_names)
    assert "clear" in Runtime._loop_coroutine.__code__.co_names, "before it looks, so that who tells it later is heard"
    assert hasattr(WebsocketSessionManager, "get_active_session_info")
