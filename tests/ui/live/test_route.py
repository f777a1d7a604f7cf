"""The server's end of the line: only a page's own browser is answered, with the board of its newest text."""

from __future__ import annotations

import asyncio
import json
import os
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from pages.type.picking import picked
from pages.type.settings import compose_from
from tests.pages.opening import header_of
from tests.serving import ROOT
from ui import state
from ui.live import answers, route, routes, visits
from ui.live.route import Line
from ui.live.visits import Visit
from ui.look import Choices, Look, look_of
from ui.memory import loaded, visitors
from ui.picture.board import Board, Note
from viz import token_chips

TEXT, FIRST = "The cat sat on the", Choices()
FRAME = ((("board", None),), ())  # the page has nothing but its board


@pytest.fixture
def visit() -> Iterator[Visit]:
    """A visitor who has page Type open with the writer."""
    visit = visits.begin("a session of this test")
    visit.page, visit.model, visit.composer, visit.run = "type", "writer", compose_from, 1
    visit.picker, visit.frame = picked, FRAME
    yield visit
    for tell in visitors.leaving:
        tell(lambda session: session != visit.session)


@pytest.fixture
def browser() -> TestClient:
    return TestClient(Starlette(routes=[*routes.ROUTES]))


def message(number: int, text: str, choices: Choices = FIRST, run: int = 1, **more: object) -> str:
    plain = {"number": number, "run": run, "page": "type", "model": "writer", "text": text, "target": ""}
    return json.dumps(plain | {"choices": asdict(choices), "values": {}} | more)


def board(answer: bytes | str) -> tuple[int, bytes]:
    """The number of an answer, and the bytes of its board."""
    assert isinstance(answer, bytes), answer
    (length,) = struct.unpack_from("<I", answer)
    header = json.loads(answer[4 : 4 + length])
    start = -(-(4 + length) // 8) * 8
    place = header["boards"]["board"]
    return header["number"], answer[start + place["start"] : start + place["end"]]


def composed(text: str, choices: Choices = FIRST) -> bytes:
    """The board of a text, composed without a line."""
    with visitors.acting_for("a session of this test"):
        look = look_of(loaded.model("writer"), loaded.read("writer", text), "", choices)
        return compose_from(look, {}).data["board"]


def test_who_has_the_key_is_answered(browser, visit):
    with browser.websocket_connect("/live") as line:
        line.send_text(visit.key)
        line.send_text(message(1, TEXT))
        assert board(line.receive_bytes()) == (1, composed(TEXT))
        assert visit.lines == 1
        line.send_text(message(2, TEXT, page="attention"))
        assert line.receive_json()["number"] == 2
        line.send_text(message(3, TEXT + " mat"))
        assert board(line.receive_bytes())[0] == 3
    assert visit.lines == 0


@pytest.mark.parametrize("key", ["", "guessed", "x" * 5000])
def test_who_has_no_key_is_not(browser, visit, key):
    with browser.websocket_connect("/live") as line:
        line.send_text(key)
        with pytest.raises(WebSocketDisconnect) as end:
            line.receive_bytes()
    assert end.value.code == routes.REFUSED and visit.lines == 0


REFUSAL = """
import sys
from starlette.applications import Starlette
from starlette.testclient import TestClient
from ui.live import routes

with TestClient(Starlette(routes=[*routes.ROUTES])).websocket_connect("/live") as line:
    line.send_text("a key of the server before")
    assert line.receive()["code"] == routes.REFUSED
print(*sys.modules)
"""


def test_a_page_of_the_server_before_imports_nothing():
    """Its line knocks while the first run imports the same modules: two threads in one package break the import for both."""
    done = subprocess.run([sys.executable, "-c", REFUSAL], cwd=ROOT, capture_output=True, text=True, check=True)
    assert {"ui.live.route", "analysis"}.isdisjoint(done.stdout.split()) and "ui.live.routes" in done.stdout


def test_who_says_nothing_is_not(browser, visit, monkeypatch):
    monkeypatch.setattr(routes, "PROOF", 0.01)
    with browser.websocket_connect("/live") as line, pytest.raises(WebSocketDisconnect) as end:
        line.receive_bytes()
    assert end.value.code == routes.REFUSED


def test_a_key_is_of_no_use_when_its_visitor_has_gone(browser, visit):
    for tell in visitors.leaving:
        tell(lambda session: session != visit.session)
    assert visits.of_key(visit.key) is None


def test_a_page_has_few_lines(browser, visit):
    visit.lines = routes.LINES
    with browser.websocket_connect("/live") as line:
        line.send_text(visit.key)
        with pytest.raises(WebSocketDisconnect) as end:
            line.receive_bytes()
    assert end.value.code == routes.REFUSED


WRONG = [
    ({"page": "attention"}, "the page that its visitor has open"),
    ({"model": "filler"}, "the model of that page"),
    ({"choices": {"level": "expert", "layer": 99}}, "no layer 99: this model has 6"),
    ({"choices": {"level": "expert", "head": 99}}, "no head 99"),
    ({"values": {"temperature": 0}}, "“temperature” is a number from 0.1 to 3.0"),
    ({"values": {"temperature": True}}, "“temperature”"),
    ({"values": {"bars": 5.5}}, "“bars” is a whole number from 5 to 50"),
    ({"values": {"bars": 51}}, "“bars”"),
    ({"text": None}, "“text” is a text"),
]


@pytest.mark.parametrize(("change", "sentence"), WRONG)
def test_what_is_not_allowed_is_answered_in_a_sentence(visit, change, sentence):
    values = json.loads(message(5, TEXT)) | change
    answer = json.loads(answers.answer(json.dumps(values), visit))
    assert answer["number"] == 5 and sentence in answer["wrong"]


def test_a_token_that_a_shorter_text_has_lost_does_not_come_back(visit):
    choices = Choices(level="intermediate", token=4)
    first, short, again = (answers.answer(message(i, text, choices), visit) for i, text in enumerate((TEXT, "The", TEXT)))
    assert board(first)[1] == composed(TEXT, choices) != board(again)[1] == composed(TEXT, replace(choices, token=None))
    assert board(short)[1] == composed("The", choices)
    visit.run = 2  # the page has run, and its visitor has kept another one
    assert board(answers.answer(message(4, TEXT, choices, run=2), visit))[1] == composed(TEXT, choices)


CLICKS = [
    ({"part": "chips", "value": 3}, {"token": 3}),
    ({"part": "reading", "value": 2}, {"token": 2}),
    ({"part": "chips", "value": 5}, {"token": None}),
    ({"part": "heads", "value": [1, 2]}, {"layer": 1, "head": 2}),
    ({"part": "chips", "value": 99}, {}),
    ({"part": "reading", "value": -1}, {}),
    ({"part": "heads", "value": [9, 0]}, {}),
]


@pytest.mark.parametrize(("click", "picks"), CLICKS)
def test_a_click_that_chooses_a_token_or_a_head_is_answered_with_that_board(visit, click, picks):
    choices = Choices(level="expert")
    answer = answers.answer(message(1, TEXT, choices, click=click), visit)
    assert board(answer)[1] == composed(TEXT, replace(choices, **picks))
    if "token" in picks:
        chosen = replace(choices, **picks)
        again = answers.answer(message(2, TEXT, chosen, click={"part": "chips", "value": 3}), visit)
        assert board(again)[1] == composed(TEXT, replace(chosen, token=None if picks["token"] == 3 else 3))


def test_a_click_that_changes_what_only_this_page_has_is_answered_with_that_board(visit):
    visit.changer = lambda look, click, values: {"count": values["count"] + 1} if click == "more" else None
    visit.composer = lambda look, values: Board({"board": token_chips(look.trace.tokens[: values["count"]])})
    header = header_of(answers.answer(message(1, TEXT, values={"count": 2}, click="more"), visit))
    assert (header["picks"], header["values"]) == ({}, {"count": 3})
    assert header_of(answers.answer(message(2, TEXT, values={"count": 2}), visit))["values"] == {}


@pytest.mark.parametrize("click", [5, "chips", {"part": "bars", "value": {"id": 5}}, {"part": "chips", "value": "3"}, {}])
def test_a_click_that_does_something_else_is_left_to_a_run(visit, click):
    assert "one for a run of the page" in json.loads(answers.answer(message(1, TEXT, click=click), visit))["wrong"]


def test_a_text_beside_which_other_sentences_stand_is_left_to_a_run(visit):
    """The line draws views, so a sentence that a run has placed beside them has to be right for the newer text too."""

    def compose(look: Look, values: Mapping[str, object]) -> Board:
        views, count = compose_from(look, {}).contents, len(look.trace.tokens)
        return Board(views, (Note("It is short." if count < 5 else "It is long."),))

    visit.composer = compose
    visit.frame = FRAME[0], (Note("It is short."),)
    assert board(answers.answer(message(1, "The cat"), visit))[1] == composed("The cat")
    assert "other sentences" in json.loads(answers.answer(message(2, TEXT), visit))["wrong"]


@pytest.mark.parametrize("change", [{"frame": ((("board", None), ("more", None)), ())}, {"frame": None}])
def test_a_text_for_which_the_page_has_other_views_is_left_to_a_run(visit, change):
    vars(visit).update(change)
    assert "other sentences or views" in json.loads(answers.answer(message(1, TEXT), visit))["wrong"]


def test_a_text_of_which_the_model_reads_a_part_is_left_to_a_run(visit):
    text = "a b " * loaded.info("writer").context
    assert "a part of this text" in json.loads(answers.answer(message(1, text[: state.LINKED]), visit))["wrong"]


class Wire:
    """A browser's end without a network."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[dict] = asyncio.Queue()
        self.answers: list[bytes | str] = []
        self.code = 0

    async def receive(self) -> dict:
        return await self.waiting.get()

    async def send_bytes(self, data: bytes) -> None:
        self.answers.append(data)

    send_text = send_bytes

    async def close(self, code: int) -> None:
        self.code = code

    def say(self, text: str) -> None:
        self.waiting.put_nowait({"type": "websocket.receive", "text": text})

    def hang_up(self) -> None:
        self.waiting.put_nowait({"type": "websocket.disconnect"})


def talk(visit: Visit, story: Callable, answer: Callable = answers.answer) -> Wire:
    """What comes of a story, which is given the browser's end of a line."""

    async def whole() -> Wire:
        wire = Wire()
        line = asyncio.create_task(Line(wire, visit, answer).serve())  # type: ignore[arg-type]
        await story(wire)
        wire.hang_up()
        await asyncio.wait_for(line, 60)
        return wire

    return asyncio.run(whole())


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.001)


def test_of_texts_that_wait_only_the_newest_is_read(visit):
    asked = list[str]()

    async def story(wire: Wire) -> None:
        for text in "abcdefgh":
            wire.say(text)
        await until(lambda: bool(asked) and asked[-1] == "h")

    talk(visit, story, lambda text, visit: asked.append(text) or "")
    assert asked == ["h"]


@pytest.mark.parametrize(("public", "free"), [("1", 60), ("", 180)])
def test_what_comes_too_fast_waits(visit, monkeypatch, public, free):
    """On a public host, after as many as there may be at once; and elsewhere after many more than a key that is held sends."""
    waits = list[float]()

    async def wait(seconds: float) -> None:
        waits.append(seconds)

    async def story() -> None:
        wire = Wire()
        for number in range(200):
            wire.say(message(number, TEXT))
        wire.hang_up()
        await Line(wire, visit).hear()  # type: ignore[arg-type]

    monkeypatch.setenv("HEADLIGHT_PUBLIC", public)
    monkeypatch.setattr(asyncio, "sleep", wait)
    asyncio.run(story())
    assert 190 - free <= len(waits) <= 200 - free and all(seconds > 0 for seconds in waits)


def test_a_line_ends_with_its_visit(visit, monkeypatch):
    monkeypatch.setattr(visitors, "is_here", lambda session: False)

    async def story(wire: Wire) -> None:
        wire.say(message(1, TEXT))
        await until(lambda: bool(wire.code))

    wire = talk(visit, story)
    assert wire.code == route.LEFT and not wire.answers and visit.lines == 0


def test_a_line_on_which_nothing_is_said_ends(visit, monkeypatch):
    monkeypatch.setattr(route, "BEAT", 0.01)
    monkeypatch.setattr(route, "SILENT", 0.05)

    async def story(wire: Wire) -> None:
        await until(lambda: bool(wire.code))

    assert talk(visit, story).code == route.LEFT


ACTS = st.one_of(
    st.tuples(st.just("type"), st.sampled_from([*"aeiost ", " the", " cat", ".", "é", "猫"])),
    st.tuples(st.just("delete"), st.integers(1, 12)),
    st.tuples(st.just("token"), st.none() | st.integers(0, 6)),
    st.tuples(st.just("level"), st.sampled_from(["beginner", "intermediate", "expert"])),
    st.tuples(st.just("head"), st.integers(0, 5)),
    st.tuples(st.sampled_from(["pause", "commit"]), st.none()),
)


@settings(max_examples=20, deadline=None)
@given(st.lists(ACTS, min_size=1, max_size=14))
def test_any_keys_presses_pauses_and_commits_end_in_the_board_of_the_last_text(acts):
    visit = Visit("a session of this test", page="type", model="writer", composer=compose_from, frame=FRAME, run=1)
    text, choices, number = TEXT, Choices(), 0

    async def story(wire: Wire) -> None:
        nonlocal text, choices, number
        for act, value in [*acts, ("type", "!")]:
            if act == "pause":
                await until(lambda: bool(wire.answers)) if number else None
                continue
            if act == "type":
                text += value
            elif act == "delete":
                text = text[:-value]
            else:  # a run of the page
                visit.run += 1
                choices = replace(choices, **{act: value} if act != "commit" else {})
                choices = replace(choices, token=None) if visit.lost == visit.run - 1 and act != "token" else choices
                if act == "head":
                    choices = replace(choices, layer=value)
            number += 1
            wire.say(message(number, text, choices, visit.run))
            await asyncio.sleep(0)
        await until(lambda: bool(wire.answers) and board(wire.answers[-1])[0] == number)

    wire = talk(visit, story)
    numbers = [board(answer)[0] for answer in wire.answers]
    assert numbers == sorted(set(numbers))
    expected = replace(choices, token=None) if visit.lost == visit.run else choices
    assert board(wire.answers[-1])[1] == composed(text, expected)


def test_numpy_leaves_the_other_cores_alone_where_lines_are_answered():
    code = "import ui.live.route, threadpoolctl\nprint({info['num_threads'] for info in threadpoolctl.threadpool_info()})"
    given = {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=os.environ | given, capture_output=True, text=True)
    assert run.stdout.strip() == "{1}", run.stderr
