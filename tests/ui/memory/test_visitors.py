"""What the server keeps for a visitor is let go when they go, and what it keeps for others stays."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from streamlit import runtime

from pages.inside import kept
from pages.inside.order import kept as orders
from ui.memory import loaded, visitors
from ui.serving import disconnects
from ui.serving.disconnects import Disconnects

GONE, STAYS = "The visitor who goes wrote this", "And who stays wrote that"


class Runtime:
    """Streamlit's, as far as it is asked."""

    here = frozenset({"one", "other"})

    def is_active_session(self, visitor: str) -> bool:
        return visitor in self.here


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    result = Runtime()
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: result)
    loaded.model("writer").forget()
    yield result
    result.here = frozenset()
    visitors.let_go()


def opened(
    monkeypatch: pytest.MonkeyPatch, visitor: str, text: str, meanwhile: Callable[[], None] = lambda: None
) -> list[weakref.ref]:
    """What is kept of a text that a visitor follows through the model, and puts into another order. meanwhile: happens when the
    text has been read."""
    monkeypatch.setattr(visitors, "me", lambda: visitor)
    trace, model = loaded.read("writer", text), loaded.model("writer")
    meanwhile()
    way = kept.way(visitor, model, trace, "self", 1, 1)
    turned = orders.readings(visitor, model, trace, "", tuple(reversed(range(len(trace.tokens)))))
    return [weakref.ref(reading) for reading in (trace, way, turned)]


def test_what_is_kept_for_a_visitor_is_freed_when_they_go_and_what_others_have_stays(server, monkeypatch):
    left, stay = opened(monkeypatch, "one", GONE), opened(monkeypatch, "other", STAYS)
    visitors.let_go()
    assert all(reference() for reference in (*left, *stay)), "both are here"
    server.here = frozenset({"other"})
    visitors.let_go()
    assert not any(reference() for reference in left) and all(reference() for reference in stay)


def test_what_a_run_leaves_behind_that_ended_after_its_visitor_went_goes_with_the_next_one(server, monkeypatch):
    def leave() -> None:
        server.here = frozenset({"other"})
        visitors.let_go()

    late = opened(monkeypatch, "one", GONE, leave)
    visitors.let_go()
    assert not any(reading() for reading in late)


def test_what_nobody_in_particular_read_stays(server, monkeypatch):
    references = opened(monkeypatch, "", GONE)
    server.here = frozenset()
    visitors.let_go()
    assert all(reference() for reference in references)


def test_what_is_done_for_a_visitor_is_done_until_they_go_and_what_it_held_is_freed(server, monkeypatch):
    done: list[str] = []
    held, refs = [], []
    for visitor in ("one", "other"):
        monkeypatch.setattr(visitors, "me", lambda visitor=visitor: visitor)
        text = Runtime()  # something that can be looked at weakly
        held.append(visitors.hold(lambda message, text=text, visitor=visitor: done.append(f"{visitor} {message}")))
        refs.append(weakref.ref(text))
    del text
    for action in held:
        action("here")
    server.here = frozenset({"other"})
    visitors.let_go()
    for action in held:
        action("there")
    assert done == ["one here", "other here", "other there"]
    assert refs[0]() is None and refs[1]() is not None


def test_it_is_let_go_after_a_connection_to_a_page_has_ended_and_not_after_a_request(monkeypatch):
    events: list[str] = []
    done = threading.Event()
    monkeypatch.setattr(visitors, "let_go", lambda: (events.append("let go"), done.set()))

    async def app(scope: dict, receive: object, send: object) -> None:
        events.append(scope["type"])
        if scope.get("breaks"):
            raise ConnectionError

    async def come_and_go() -> None:
        await Disconnects(app)({"type": "http"}, None, None)
        with pytest.raises(ConnectionError):
            await Disconnects(app)({"type": "websocket", "breaks": True}, None, None)

    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        other.submit(asyncio.run, come_and_go()).result()
    assert done.wait(10) and events == ["http", "websocket", "let go"]


def test_memory_is_given_back_once_for_all_who_go_at_a_time_and_after_they_have_gone(monkeypatch):
    events: list[str] = []
    monkeypatch.setattr(disconnects, "SOON", 0.05)
    monkeypatch.setattr(visitors, "let_go", lambda: None)
    monkeypatch.setattr(disconnects, "give_back", lambda: events.append("given back"))

    async def app(scope: dict, receive: object, send: object) -> None:
        await asyncio.sleep(0)
        events.append("gone")

    async def come_and_go() -> None:
        middleware = Disconnects(app)
        for _ in range(2):
            await asyncio.gather(*(middleware({"type": "websocket"}, None, None) for _ in range(5)))
            await asyncio.sleep(0.3)

    with ThreadPoolExecutor(1) as other:
        other.submit(asyncio.run, come_and_go()).result()
    assert events == [*["gone"] * 5, "given back"] * 2
