"""What is typed into a page before its visit has the text box is answered, and in its turn."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.crowd import drawn
from benchmarks.protocol import Visitor
from tests.serving import serve
from ui.serving import early_requests
from ui.serving.early_requests import MOST, EarlyRequests

WHOLE = ""  # the page, where a fragment might be named
OVER, CUT_SHORT = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_EARLY_FOR_RERUN


class Talk:
    """A browser and a server, one on each side of the middleware; `heard` is what has come to the server."""

    def __init__(self, visit: set[str]) -> None:
        self.visit, self.heard, self.sent = visit, list[Any](), asyncio.Queue[dict]()
        self.answer: Callable[[dict], Awaitable[None]] | None = None

    async def app(self, scope, receive, send) -> None:
        self.answer = send
        while (message := await receive())["type"] == "websocket.receive":
            parsed = BackMsg.FromString(message["bytes"])
            kind = parsed.WhichOneof("type")
            self.heard.append(parsed.rerun_script.fragment_id if kind == "rerun_script" else kind)
        self.heard.append(message["type"])

    async def ask(self, *fragments: str) -> None:
        for fragment in fragments:
            sent = BackMsg()
            sent.rerun_script.fragment_id = fragment
            await self.sent.put({"type": "websocket.receive", "bytes": sent.SerializeToString()})
        await settled()

    async def say(self, finished: int | None = None) -> None:
        """A run begins, or is finished in this way."""
        parsed = ForwardMsg()
        parsed.new_session.initialize.session_id = "one"
        if finished is not None:
            parsed.script_finished = finished  # type: ignore[assignment]
        assert self.answer
        await self.answer({"type": "websocket.send", "bytes": parsed.SerializeToString()})
        await settled()

    async def bring(self, fragment: str) -> None:
        """A run comes to a fragment, and something of it is sent."""
        self.visit.add(fragment)
        await self.say()


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def talk(monkeypatch: pytest.MonkeyPatch, tell: Callable[[Talk], Awaitable[None]], *has: str) -> list[Any]:
    """What the server has heard at the end of this. has: fragments that the visit has from the start."""
    visit = set(has)
    monkeypatch.setattr(early_requests, "has", lambda session, fragment: bool(session) and fragment in visit)

    async def both() -> list[Any]:
        page = Talk(visit)

        async def send(_) -> None:
            pass

        line = asyncio.create_task(
            EarlyRequests(page.app)({"type": "websocket", "path": "/lens/_stcore/stream"}, page.sent.get, send)
        )
        await settled()
        await tell(page)
        line.cancel()
        return page.heard

    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        return other.submit(asyncio.run, both()).result()


def test_a_key_press_waits_for_the_text_box_and_what_is_asked_after_it_keeps_its_turn(monkeypatch):
    async def tell(page: Talk) -> None:
        await page.ask(WHOLE, "stage", "stage", WHOLE)
        await page.say()
        assert page.heard == [WHOLE]
        await page.bring("stage")
        assert page.heard == [WHOLE, "stage", "stage", WHOLE]
        await page.ask("stage", "later")
        assert page.heard[4:] == ["stage"]
        await page.bring("later")

    assert talk(monkeypatch, tell)[5:] == ["later"]


def test_when_the_page_is_drawn_nothing_waits_any_more_and_a_run_that_is_cut_short_is_none(monkeypatch):
    async def tell(page: Talk) -> None:
        await page.ask(WHOLE, "gone")
        await page.say(CUT_SHORT)
        assert page.heard == [WHOLE]
        await page.say(OVER)
        await page.ask("gone", WHOLE, "new")

    assert talk(monkeypatch, tell) == [WHOLE, "gone", "gone", WHOLE, "new"]


def test_a_visit_that_is_still_known_is_answered_as_soon_as_it_says_so(monkeypatch):
    async def tell(page: Talk) -> None:
        await page.ask(WHOLE, "stage")
        assert page.heard == [WHOLE]
        await page.say()

    assert talk(monkeypatch, tell, "stage") == [WHOLE, "stage"]


def test_a_press_that_no_whole_page_is_asked_before_goes_on(monkeypatch):
    assert talk(monkeypatch, lambda page: page.ask("stage", "stage")) == ["stage", "stage"]


def test_what_asks_for_no_run_does_not_wait(monkeypatch):
    async def tell(page: Talk) -> None:
        await page.ask(WHOLE, "stage")
        await page.sent.put({"type": "websocket.receive", "bytes": BackMsg(stop_script=True).SerializeToString()})
        await settled()
        assert page.heard == [WHOLE, "stop_script"]
        await page.sent.put({"type": "websocket.disconnect"})
        await settled()

    assert talk(monkeypatch, tell) == [WHOLE, "stop_script", "websocket.disconnect"]


def test_whoever_sends_without_end_loses_the_line(monkeypatch):
    async def tell(page: Talk) -> None:
        await page.ask(WHOLE, *["stage"] * (MOST + 1))
        async with asyncio.timeout(60):
            while len(page.heard) < 2:
                await asyncio.sleep(0)

    assert talk(monkeypatch, tell) == [WHOLE, "websocket.disconnect"]


@pytest.mark.parametrize(("each", "heard"), [(2, [WHOLE, "websocket.disconnect"]), (1, [WHOLE, "stage"])])
def test_what_waits_is_bounded_in_bytes_too_and_one_message_alone_may_be_long(monkeypatch, each, heard):
    monkeypatch.setattr(early_requests, "HELD", 10)

    async def tell(page: Talk) -> None:
        await page.ask(WHOLE, *["stage"] * each)
        if each == 1:
            await page.bring("stage")
        async with asyncio.timeout(60):
            while len(page.heard) < 2:
                await asyncio.sleep(0)

    assert talk(monkeypatch, tell) == heard


@given(st.lists(st.sampled_from([WHOLE, "a", "b", "+a", "+b", "cut short", "over"]), max_size=20))
def test_all_that_is_asked_comes_in_its_order_and_of_a_page_only_what_is_there(steps):
    asked: list[str] = []

    async def tell(page: Talk) -> None:
        over = False
        for step in steps:
            if step[:1] == "+":
                await page.bring(step[1:])
            elif step in ("over", "cut short"):
                over |= step == "over"
                await page.say(OVER if step == "over" else CUT_SHORT)
            else:
                asked.append(step)
                await page.ask(step)
            assert page.heard == asked[: len(page.heard)]
            if not over and WHOLE in page.heard:
                assert {*page.heard[page.heard.index(WHOLE) :]} <= {WHOLE, *page.visit}
        await page.say(OVER)

    with pytest.MonkeyPatch.context() as patch:
        assert talk(patch, tell) == asked


def test_what_is_typed_before_a_new_server_has_drawn_the_page_is_answered():
    """The browser has box and page of a server that is gone: it asks for the page with its text, and the next key is pressed."""

    async def come_to_another(url: str) -> list[str]:
        async with Visitor(url, drawn) as before:
            await before.open()
        async with Visitor(url, drawn) as visitor:  # to this server, somebody whom it has never seen
            visitor.script, visitor.box = before.script, before.box
            await visitor.type("Once upon a time")
            visitor.fragment = before.fragment
            await visitor.type("Once upon a time there")
            async with asyncio.timeout(60):
                while "Once upon a time there" not in visitor.tally.took:
                    await asyncio.sleep(0.05)
            return visitor.tally.errors

    with serve() as running, ThreadPoolExecutor(1) as other:
        assert other.submit(asyncio.run, come_to_another(running.url)).result() == []
