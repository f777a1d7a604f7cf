"""A room over the wire, without browsers: a server, one who leads and some who follow, by Streamlit's own protocol."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import connect

from benchmarks.attendee import Attendee
from benchmarks.rounds import tracebacks
from tests.serving import Server, serve
from ui.memory import limits
from ui.rooms import route, store
from ui.rooms.codes import LETTERS
from ui.rooms.store import PEOPLE, Room, Rooms

SECRET = "a secret of this test"
MANY = 8


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_ROOM_SECRET", SECRET)
        with serve() as running:
            yield running


def run(story) -> None:
    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        other.submit(asyncio.run, story()).result()


class Teacher(Attendee):
    """Who leads, by the cookie of a browser that has opened the room."""

    def __init__(self, url: str, room: str, page: str = "", **query: str) -> None:
        super().__init__(url, room, page, **query)
        self.headers["Cookie"] = f"headlight-room-{room}={Rooms(SECRET.encode(), 60).key(room)}"


def code(number: int) -> str:
    """A room of a test's own: whoever has the key of one opens it."""
    return f"TEST{LETTERS[number // 21]}{LETTERS[number % 21]}"


def test_a_class_follows_each_text_within_one_run_and_is_counted(server):
    async def story() -> None:
        async with AsyncExitStack() as stack:
            teacher = await stack.enter_async_context(Teacher(server.url, code(1), text="The cat"))
            await teacher.join()
            class_ = [await stack.enter_async_context(Attendee(server.url, code(1))) for _ in range(MANY)]
            await asyncio.gather(*(attendee.join() for attendee in class_))
            await teacher.until(lambda: teacher.news.get("here") == teacher.news.get("follow") == MANY)
            assert {attendee.text for attendee in class_} == {"The cat"}
            before = [attendee.runs for attendee in class_]
            await teacher.type("The cat sat")
            for attendee in class_:
                await attendee.until(lambda attendee=attendee: attendee.text == "The cat sat")
            assert all(attendee.runs - was <= 2 for attendee, was in zip(class_, before, strict=True))
            assert teacher.news["places"] == [["Type", MANY]]
            first = class_[0]
            await first.type("My own")
            await teacher.until(lambda: teacher.news["follow"] == MANY - 1)
            await teacher.type("The cat sat on")
            for attendee in class_[1:]:
                await attendee.until(lambda attendee=attendee: attendee.text == "The cat sat on")
            assert first.seat["follows"] is False and first.text != "The cat sat on"
            await first.press("follow")
            await first.until(lambda: first.text == "The cat sat on")
            assert not [error for person in (teacher, *class_) for error in person.tally.errors]

    run(story)


def test_bad_answers_are_refused_with_a_sentence(server):
    async def story() -> None:
        async with Teacher(server.url, code(2)) as teacher, Attendee(server.url, code(2)) as attendee:
            await teacher.join()
            await attendee.join()
            await attendee.answer("yes")
            await attendee.until(lambda: "no longer asked" in attendee.news.get("wrong", ""))
            await attendee.line.send("x" * 5000)
            await attendee.until(lambda: "too long" in attendee.news.get("wrong", ""))
            for noise in ("[1]", "{", "null", '"answer"'):
                await attendee.line.send(noise)
            await teacher.line.send(b"\0\xff")
            await attendee.answer("yes")
            await attendee.until(lambda: "no longer asked" in attendee.news.get("wrong", ""))
            await attendee.line.send('{"answer": ' + "[" * 3900)
            await attendee.until(lambda: "too long" in attendee.news.get("wrong", ""))
            assert attendee.line.close_code is teacher.line.close_code is None, "both lines are open"

    run(story)


def test_who_hangs_up_while_they_are_answered_leaves_no_error_in_the_log(server):
    async def story() -> None:
        async with Teacher(server.url, code(8)) as teacher, Attendee(server.url, code(8)) as attendee:
            await teacher.join()
            await attendee.join()
            await teacher.until(lambda: teacher.news.get("here") == 1)
            for _ in range(100):
                await attendee.answer("x" * 3000)
            await attendee.until(lambda: "wrong" in attendee.news)
            attendee.line.transport.abort()
            await teacher.until(lambda: teacher.news["here"] == 0)

    run(story)
    assert "Traceback" not in server.log.read_text("utf-8")


def test_what_comes_faster_than_a_line_is_heard_waits(monkeypatch):
    """Time stands still for the bucket: of so many messages the last would have to wait until its turn."""
    waits, sent = [], [{"type": "websocket.disconnect"}] + [{"type": "websocket.receive", "text": '{"answer": 1}'}] * 300

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async def story() -> None:
        async def nothing(*_) -> None:
            """Who floods a line does not listen."""

        async def receive() -> dict:
            return sent.pop()

        await route.hear(SimpleNamespace(receive=receive, send_json=nothing), Room("code", time.monotonic), "nobody")

    monkeypatch.setattr(route, "asyncio", SimpleNamespace(sleep=sleep))
    run(story)
    assert len(waits) == 300 - route.AT_ONCE and max(waits) == pytest.approx((300 - route.AT_ONCE) / route.HEARD, abs=1)


async def words_on(server: Server, room: str, **query: str) -> dict:
    parts = "&".join(f"{name}={value}" for name, value in query.items())
    async with connect(f"{server.url.replace('http', 'ws')}/rooms/{room}/line?{parts}", origin=server.url) as line:
        return json.loads(await asyncio.wait_for(line.recv(), 20))


def test_a_room_that_does_not_exist_is_told_of_and_one_that_was_there_may_come_back(server):
    async def story() -> None:
        ticket = Rooms(SECRET.encode(), 60).ticket(code(3))
        gone = {"gone": f"There is no room {code(3)}. It has ended, or the code is wrong."}
        assert await words_on(server, code(3)) == gone | {"again": False}
        assert await words_on(server, code(3), ticket="é") == gone | {"again": False}
        assert await words_on(server, code(3), ticket=ticket) == gone | {"again": True}
        async with Teacher(server.url, code(3)) as teacher:
            await teacher.join()
            assert await words_on(server, code(3), ticket=ticket) == {"seat": False}, "the page is to ask for one"
            assert "version" in await words_on(server, code(3), who=teacher.seat["who"])

    run(story)


@pytest.mark.parametrize(("error", "waits"), [(store.GuessError, [1.0]), (store.RoomError, [])])
def test_whoever_has_guessed_too_many_codes_waits_for_each_refusal(monkeypatch, error, waits):
    """Else one who guesses without a pause takes most of the server's time."""
    slept, sent = [], []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async def accept(*_) -> None:
        pass

    async def send_json(message: dict) -> None:
        sent.append((len(slept), message["gone"]))

    def find(*_, **__):
        raise error("No such room.")

    socket = SimpleNamespace(
        path_params={"code": "ABCDEF"},
        url=SimpleNamespace(query="who=1"),
        client=SimpleNamespace(host="203.0.113.7"),
        cookies={},
        accept=accept,
        close=accept,
        send_json=send_json,
    )
    monkeypatch.setattr(route, "rooms", SimpleNamespace(find=find, was_in=lambda *_: False))
    monkeypatch.setattr(route.asyncio, "sleep", sleep)
    run(lambda: route.line(socket))
    assert slept == waits and sent == [(len(waits), "No such room.")]


def test_who_leads_may_reload_and_those_who_follow_hear_that_they_are_away(server):
    async def story() -> None:
        async with Attendee(server.url, code(4)) as attendee:
            async with Teacher(server.url, code(4), text="First") as teacher:
                await teacher.join()
                await attendee.join()
                await attendee.until(lambda: attendee.news.get("led") and attendee.text == "First")
            await attendee.until(lambda: attendee.news["led"] is False)
            async with Teacher(server.url, code(4), text="Second") as teacher:
                await teacher.join()
                await attendee.until(lambda: attendee.news["led"])
                assert attendee.text == "First", "a page that is opened again moves nobody"
                await teacher.type("Third")
                await attendee.until(lambda: attendee.text == "Third")

    run(story)


def test_what_was_fixed_comes_back_with_the_browser_of_who_leads_after_a_restart(server):
    async def story() -> None:
        async with Teacher(server.url, code(7)) as teacher, Attendee(server.url, code(7)) as attendee:
            await teacher.join()
            await attendee.join()
            await attendee.line.send(json.dumps({"held": {"level": "expert"}}))
            await teacher.until(lambda: teacher.news.get("held") == {} and teacher.news["here"] == 1)
            await teacher.line.send(json.dumps({"held": {"level": "expert", "hidden": ["train", "nonsense"], "more": 1}}))
            await teacher.until(lambda: teacher.news["held"] == {"level": "expert", "hidden": ["train"]})
            await attendee.until(lambda: attendee.news["fixed"] == attendee.seat["taken"] == teacher.news["version"])
            assert "held" not in attendee.news

    run(story)


@given(st.recursive(st.none() | st.integers() | st.text(), lambda values: st.lists(values) | st.dictionaries(st.text(), values)))
def test_nothing_that_a_browser_says_it_kept_is_taken_for_what_it_is_not(held):
    assert route.readable(held) == {}
    stored = route.readable({"level": held, "model": held, "hidden": held})
    assert stored.keys() <= {"level", "model"} and (held == stored.get("model") or "model" not in stored)


def asked(address: str, body: bytes | None = None, **headers: str) -> tuple[int, str, str]:
    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    try:
        request = urllib.request.Request(address, body, headers)
        with urllib.request.build_opener(Stay).open(request, timeout=20) as answer:
            return answer.status, answer.headers.get("Set-Cookie", ""), answer.headers.get("Location", "")
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers.get("Set-Cookie", ""), refused.headers.get("Location", "")


def test_a_link_leads_from_a_second_device_and_no_other_page_can_have_it_set(server):
    key = Rooms(SECRET.encode(), 60).key(code(5))
    address = f"{server.url}/rooms/{code(5)}/lead"
    status, cookie, place = asked(f"{address}?key={key}")
    assert (status, place) == (303, f"../../room?room={code(5)}") and key not in place
    assert f"headlight-room-{code(5)}={key}" in cookie and "HttpOnly" in cookie and "SameSite=lax" in cookie
    assert asked(address, key.encode())[:2] == (204, cookie)
    for wrong in ("", "é", key[:-1] + ("1" if key.endswith("0") else "0"), Rooms(SECRET.encode(), 60).key(code(6))):
        assert asked(address, wrong.encode())[:2] == (403, "")
    assert asked(address, key.encode(), Origin="http://evil.example")[:2] == (403, "")


@pytest.mark.thorough
def test_a_full_room_behind_one_address_of_a_public_host_has_its_seats(monkeypatch):
    """A class of sixty fits into what a public host opens by itself, also while all of it loads its pages again.

    It takes half a minute: sixty come, each with a session of their own."""
    assert limits.ON_A_PUBLIC_HOST[limits.PAGES] >= 2 * 60
    for name, value in {"PUBLIC": "1", "PAGES": str(PEOPLE + 1), "ROOM_SECRET": SECRET}.items():
        monkeypatch.setenv(f"HEADLIGHT_{name}", value)

    async def story() -> None:
        async with AsyncExitStack() as stack:
            teacher = await stack.enter_async_context(Teacher(running.url, code(11), page="lessons"))
            await teacher.join()
            doors = asyncio.Semaphore(16)

            async def come() -> Attendee:
                async with doors:
                    pupil = await stack.enter_async_context(Attendee(running.url, code(11), page="lessons"))
                    await pupil.join()
                    return pupil

            class_ = await asyncio.gather(*(come() for _ in range(PEOPLE - 1)))
            assert len({pupil.seat["who"] for pupil in class_}) == PEOPLE - 1
            await teacher.until(lambda: teacher.news.get("here") == PEOPLE - 1)
            assert not [pupil.tally.errors for pupil in class_ if pupil.tally.errors]

    with serve() as running:
        run(story)
        assert tracebacks(running.log.read_text("utf-8")) == 0
