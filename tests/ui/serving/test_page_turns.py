"""Runs of whole pages take turns within a network while another network uses the server, and none is lost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from ui.serving import page_turns, waiting_bytes

PAGE, FRAGMENT = "", "stage"
OVER, CUT_SHORT, FRAGMENT_OVER = (
    ForwardMsg.FINISHED_SUCCESSFULLY,
    ForwardMsg.FINISHED_EARLY_FOR_RERUN,
    ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY,
)
CLASS, OTHER = "203.0.113.66", "198.51.100.7"


class Browser:
    """A browser and the server's side of its line. heard: the fragments of the runs that came to the server."""

    def __init__(self, middleware: page_turns.PageTurns, address: str) -> None:
        self.heard: list[str] = []
        self.sent: asyncio.Queue[dict] = asyncio.Queue()
        scope = {"type": "websocket", "path": "/_stcore/stream", "client": (address, 1), "browser": self}
        self.line = asyncio.create_task(middleware(scope, self.sent.get, self.take))

    async def take(self, message: dict) -> None:
        """What comes to the browser is not looked at."""

    async def serve(self, receive, send) -> None:
        self.answer = send
        while (message := await receive())["type"] == "websocket.receive":
            self.heard.append(BackMsg.FromString(message["bytes"]).rerun_script.fragment_id)

    async def ask(self, fragment: str = PAGE, button: bool = False, typed: str = "a") -> None:
        message = BackMsg()
        message.rerun_script.fragment_id = fragment
        message.rerun_script.widget_states.widgets.add(
            id="widget", **{"trigger_value": True} if button else {"string_value": typed}
        )
        await self.sent.put({"type": "websocket.receive", "bytes": message.SerializeToString()})
        await settled()

    async def finish(self, status: int = OVER) -> None:
        message = ForwardMsg()
        message.script_finished = status  # type: ignore[assignment]
        await self.answer({"type": "websocket.send", "bytes": message.SerializeToString()})
        await settled()

    def has_turn(self) -> bool:
        turn = self.answer.__self__._turn
        return turn is not None and not turn.is_over

    async def leave(self) -> None:
        await self.sent.put({"type": "websocket.disconnect", "code": 1001})
        await settled()


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def app(scope, receive, send) -> None:
    await scope["browser"].serve(receive, send)


def play(story: Callable[[Callable[[str], Browser]], Awaitable[None]]) -> None:
    """Run a story, which is given a function that opens a browser at an address."""

    async def run() -> None:
        middleware, browsers = page_turns.PageTurns(app), list[Browser]()

        def open_browser(address: str) -> Browser:
            browsers.append(Browser(middleware, address))
            return browsers[-1]

        await story(open_browser)
        for browser in browsers:
            if browser.has_turn():
                await browser.finish()
            await browser.leave()
        await asyncio.gather(*(browser.line for browser in browsers))
        async with asyncio.timeout(60):  # a pause after the last run may still last
            while any(network.running or network.waiting for network in middleware.networks._networks.values()):
                await asyncio.sleep(0.001)

    with ThreadPoolExecutor(1) as thread:  # the thread of a worker that also drives browsers has an event loop already
        thread.submit(asyncio.run, run()).result()


@pytest.fixture(autouse=True)
def _times(monkeypatch) -> None:
    """On a slow machine a story takes longer than a run may keep its turn."""
    monkeypatch.setattr(page_turns, "ACTIVE", 1000.0)
    monkeypatch.setattr(page_turns, "LONGEST", 1000.0)


def test_pages_of_a_network_open_one_at_a_time_while_somebody_else_types_and_key_presses_never_wait():
    async def story(browser) -> None:
        first, second, third, typist = browser(CLASS), browser(CLASS), browser(CLASS), browser(OTHER)
        await typist.ask(FRAGMENT)
        for page in (first, second, third):
            await page.ask()
        assert (first.heard, second.heard, third.heard) == ([PAGE], [], [])
        await typist.ask(FRAGMENT)
        await typist.ask(PAGE)
        assert typist.heard == [FRAGMENT, FRAGMENT, PAGE], "another network has turns of its own"
        await first.finish()
        await first.ask(FRAGMENT)
        assert (first.heard, second.heard, third.heard) == ([PAGE, FRAGMENT], [PAGE], [])
        await second.finish()
        assert third.heard == [PAGE]

    play(story)


def test_a_network_that_has_the_server_to_itself_waits_for_nothing():
    async def story(browser) -> None:
        pages = [browser(CLASS) for _ in range(60)]
        for page in pages:
            await page.ask()
        assert all(page.heard == [PAGE] for page in pages)

    play(story)


def test_a_run_that_is_cut_short_or_is_of_a_part_does_not_end_the_turn_and_what_is_asked_meanwhile_keeps_its_place():
    async def story(browser) -> None:
        first, second, typist = browser(CLASS), browser(CLASS), browser(OTHER)
        await typist.ask(FRAGMENT)
        await first.ask()
        await second.ask()
        await second.ask(FRAGMENT)
        for status in (CUT_SHORT, FRAGMENT_OVER):
            await first.finish(status)
            assert second.heard == []
        await first.ask()
        assert first.heard == [PAGE, PAGE], "a page that has the turn may change its mind"
        await first.finish()
        assert second.heard == [PAGE, FRAGMENT]

    play(story)


def test_what_a_button_asks_for_takes_turns_with_the_pages_and_ends_with_its_part():
    async def story(browser) -> None:
        first, second, third, typist = browser(CLASS), browser(CLASS), browser(CLASS), browser(OTHER)
        await typist.ask(FRAGMENT)
        await first.ask(FRAGMENT, button=True)
        await second.ask(FRAGMENT, button=True)
        await third.ask()
        assert (first.heard, second.heard, third.heard) == ([FRAGMENT], [], [])
        await first.finish(FRAGMENT_OVER)
        await second.finish(FRAGMENT_OVER)
        assert (second.heard, third.heard) == ([FRAGMENT], [PAGE])

    play(story)


def test_a_browser_that_leaves_while_it_waits_takes_no_turn():
    async def story(browser) -> None:
        first, second, third, typist = browser(CLASS), browser(CLASS), browser(CLASS), browser(OTHER)
        await typist.ask(FRAGMENT)
        for page in (first, second, third):
            await page.ask()
        await second.ask()
        await second.leave()
        await first.finish()
        assert (second.heard, third.heard) == ([], [PAGE])

    play(story)


def test_lines_that_wait_hold_few_of_the_longest_messages_and_all_together_no_more_than_is_allowed(monkeypatch):
    monkeypatch.setattr(waiting_bytes.of_all, "most", 30_000_000)

    async def story(browser) -> None:
        first, *others, typist = (browser(address) for address in [CLASS] * 5 + [OTHER])
        await typist.ask(FRAGMENT)
        await first.ask()
        for page in others:
            for _ in range(10):
                await page.ask(typed="a" * 3_900_000)
            assert page.sent.qsize() + page.line.done() >= 7
            assert waiting_bytes.of_all.total <= 30_000_000
        assert sum(page.line.done() for page in others) == 2, "two lines of four have room"
        await first.finish()

    play(story)
    assert waiting_bytes.of_all.total == 0


def test_a_line_that_is_cancelled_while_it_waits_takes_no_turn_from_its_network():
    async def story(browser) -> None:
        first, second, third, typist = browser(CLASS), browser(CLASS), browser(CLASS), browser(OTHER)
        await typist.ask(FRAGMENT)
        for page in (first, second):
            await page.ask()
        for _ in range(page_turns.AHEAD):
            await second.ask(FRAGMENT)
        second.line.cancel()
        await asyncio.wait([second.line])
        second.line = asyncio.create_task(asyncio.sleep(0))
        await third.ask()
        await first.finish()
        assert third.heard == [PAGE]

    play(story)


@pytest.mark.parametrize("leaves", [False, True])
def test_a_run_that_does_not_end_and_that_of_a_browser_that_has_left_keep_nobody_waiting_for_ever(monkeypatch, leaves):
    monkeypatch.setattr(page_turns, "LONGEST", 1.0)

    async def story(browser) -> None:
        first, second, typist = browser(CLASS), browser(CLASS), browser(OTHER)
        await typist.ask(FRAGMENT)
        await first.ask()
        await second.ask()
        if leaves:
            await first.leave()
            assert second.heard == []
        while not second.heard:
            await asyncio.sleep(0.01)

    play(story)


@pytest.mark.parametrize("comes_anew", [False, True])
def test_a_network_whose_pages_take_more_than_they_account_for_pauses_after_each_while_others_are_there(monkeypatch, comes_anew):
    monkeypatch.setattr(page_turns, "FREE", 0.0)
    monkeypatch.setattr(page_turns, "FREE_FOR_A_PAGE", 0.0)
    pauses = []

    async def story(browser) -> None:
        loop = asyncio.get_running_loop()
        later = loop.call_later
        monkeypatch.setattr(loop, "call_later", lambda wait, *rest: (pauses.append(wait), later(wait, *rest))[1])
        page, typist = browser(CLASS), browser(OTHER)
        for number in range(1, 7):
            if number == 4:
                await typist.ask(FRAGMENT)
            already = len(page.heard)
            await page.ask()
            while len(page.heard) == already:
                await asyncio.sleep(0)
            await page.finish()
            if comes_anew:
                await page.leave()
                page = browser(CLASS)

    play(story)
    ends = [wait for wait in pauses if wait != page_turns.LONGEST]
    assert ends[:3] == [0, 0, 0] and all(wait > 0 for wait in ends[3:])


def test_a_class_with_an_address_each_has_no_pauses_however_long_its_runs_take(monkeypatch):
    """In a full room every run takes long, and none of the networks has had most of the time."""
    monkeypatch.setattr(page_turns, "FREE", 0.0)
    monkeypatch.setattr(page_turns, "FREE_FOR_A_PAGE", 0.0)
    networks = page_turns.Networks()
    with ExitStack() as stack:
        pupils = [stack.enter_context(networks.page_of(f"10.0.0.{number}")) for number in range(60)]
        for pupil in pupils:
            pupil.note(0.5)
        assert not any(networks.has_had_much(pupil) for pupil in pupils)
        for _ in range(59):
            pupils[0].note(0.5)
        assert [networks.has_had_much(pupil) for pupil in pupils] == [True] + [False] * 59


STEPS = st.lists(st.tuples(st.sampled_from(["ask", "type", "finish", "leave"]), st.integers(0, 4)), max_size=40)


@given(STEPS)
def test_whatever_happens_one_page_of_a_network_runs_at_a_time_and_everybody_who_stays_is_answered(steps):
    async def story(browser) -> None:
        typist, pages = browser(OTHER), [browser(CLASS) for _ in range(5)]
        await typist.ask(FRAGMENT)
        asked, here = dict.fromkeys(range(5), 0), set(range(5))
        for action, number in steps:
            page = pages[number]
            if number not in here:
                continue
            match action:
                case "ask":
                    await page.ask()
                    asked[number] += 1
                case "type":
                    await page.ask(FRAGMENT)
                case "finish" if page.has_turn():
                    await page.finish()
                case "leave":
                    if page.has_turn():
                        await page.finish()
                    await page.leave()
                    here.remove(number)
            assert sum(pages[who].has_turn() for who in here) <= 1
        while unanswered := [who for who in here if pages[who].heard.count(PAGE) < asked[who]]:
            before = [list(pages[who].heard) for who in unanswered]
            for who in here:
                await pages[who].finish()
            assert before != [list(pages[who].heard) for who in unanswered], "nobody is left waiting"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_turns, "FREE", 10_000)
        patch.setattr(page_turns, "AHEAD", 10_000)
        play(story)
