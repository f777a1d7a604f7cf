"""A room full of visitors, without browsers: what is drawn arrives, and what is always the same is sent once."""

from __future__ import annotations

import asyncio
import re
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import pytest

from benchmarks.crowd import texts, typing
from benchmarks.protocol import Visitor
from benchmarks.reading import drawn
from tests.serving import Server
from ui.serving import assets
from viz import modules
from viz.view import kinds

MANY = 20
EACH = 12  # texts


@pytest.fixture(scope="module")
def room(server: Server) -> list[Visitor]:
    """Twenty visitors who have typed twelve texts each, much faster than a busy machine can answer."""

    async def type_at_once() -> list[Visitor]:
        async with AsyncExitStack() as stack:
            visitors = [await stack.enter_async_context(Visitor(server.url, drawn)) for _ in range(MANY)]
            for visitor in visitors:
                await visitor.open()
            await asyncio.sleep(1)
            for visitor in visitors:
                visitor.tally.bytes = visitor.tally.messages = 0
            await asyncio.gather(*(typing(item, number, EACH, 0.15, patience=60) for number, item in enumerate(visitors)))
            return visitors

    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        return other.submit(asyncio.run, type_at_once()).result()


def test_a_key_press_sends_little(server):
    """Five of its messages are Streamlit's own (a run begins, is on, has a fragment, ends, is over); the room's
    place, the box, the place of what is said of it, board, popover, and what the line may answer. Their size differs a little
    with what is random in them."""

    async def type_twice() -> Visitor:
        async with Visitor(server.url, drawn, {"level": "intermediate"}) as visitor:
            await visitor.open()
            for text in texts(0, 2):
                await asyncio.sleep(2)
                visitor.tally.bytes = visitor.tally.messages = 0
                await visitor.type(text)
            await asyncio.sleep(2)
            return visitor

    with ThreadPoolExecutor(1) as other:
        visitor = other.submit(asyncio.run, type_twice()).result()
    assert visitor.tally.messages == 11
    assert visitor.tally.bytes < 6_000


def test_the_last_text_of_everybody_is_answered(room):
    assert [texts(number, EACH)[-1] in item.tally.took for number, item in enumerate(room)] == [True] * MANY
    assert not [error for visitor in room for error in visitor.tally.errors]


def test_what_is_drawn_is_not_thrown_away(room):
    """A run sends about ten messages. Were boards cleared before they are sent, each answer would have cost several runs."""
    answers = sum(len(visitor.tally.took) for visitor in room)
    assert sum(visitor.tally.messages for visitor in room) / answers < 16


def test_an_answer_takes_few_bytes(room):
    answers = sum(len(visitor.tally.took) for visitor in room)
    assert sum(visitor.tally.bytes for visitor in room) / answers < 8_000  # with the scripts of the views it was over 60,000


def test_a_link_that_asks_in_vain_is_told_of_once_its_page_is_drawn(server):
    notices: list[str] = []

    def read(element) -> None:
        if element.WhichOneof("type") == "alert":
            notices.append(element.alert.body)

    async def wait() -> Visitor:
        link = {"level": "intermediate", "heads-part": "Weights"}
        async with Visitor(server.url, read, link, page="heads") as visitor:
            await visitor.send()
            async with asyncio.timeout(60):
                await visitor.finished.wait()
                while not notices and not visitor.tally.errors:
                    await visitor.type("Who reads this")
                    await asyncio.sleep(0.5)
            return visitor

    with ThreadPoolExecutor(1) as other:
        visitor = other.submit(asyncio.run, wait()).result()
    assert not visitor.tally.errors and notices[0].endswith("heads part “Weights”. Choose the level “Expert” to see that.")


def fetch(address: str) -> tuple[int, dict[str, str], str]:
    try:
        with urllib.request.urlopen(address, timeout=20) as answer:
            return answer.status, dict(answer.headers), answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, dict(refused.headers), refused.read().decode()


@pytest.mark.parametrize("kind", sorted(kinds()))
def test_a_browser_keeps_the_script_of_a_view(server, kind):
    path = re.search(r'"(assets/[^"]+)"', assets.loader(kind, ()))[1]
    status, headers, text = fetch(f"{server.url}/{path}")
    assert (status, text) == (200, assets.door(kind, ()))
    assert "immutable" in headers["cache-control"] and headers["content-type"].startswith("text/javascript")


def test_a_view_is_one_file_with_all_that_it_needs():
    text = assets.door("board", ("token_chips",))
    assert not re.search(r"^import |\bimport\(", text, re.MULTILINE)
    for module in modules.needed(["views/board/view.js", "views/token_chips/view.js"]):
        assert f'modules["{module}"] = ' in text


@pytest.mark.parametrize(
    "name",
    [
        "board.nothing",
        "../view",
        "..%2Fview",
        "export.%00",
        "views/board/../../view",
        "shared/nothing",
        "views/export",
        "board.board.board",
    ],
)
def test_no_other_script_is_served(server, name):
    status, headers, _ = fetch(f"{server.url}/assets/{assets.version()}/{name}.js")
    assert status in (400, 404)
    assert "immutable" not in headers.get("cache-control", "")


def test_a_script_of_another_version_is_not_served(server):
    status, headers, _ = fetch(f"{server.url}/assets/0123456789abcdef/board.js")
    assert status == 404 and headers["cache-control"] == "no-store"
