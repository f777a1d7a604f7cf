"""Somebody in a room without a browser: Streamlit's own protocol, and the room's line beside it."""

from __future__ import annotations

import asyncio
import json
import time
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from benchmarks.protocol import Visitor
from benchmarks.reading import unpacked

AGAIN = 2.0  # seconds after which a run is asked for again


class Attendee(Visitor):
    """One browser in a room, that does what viz/views/room/view.js does: it asks for one run of the page per move.

    seat: what the page's strip was told last; news: what the line said last; had: when each version stood on the page."""

    def __init__(self, url: str, room: str, page: str = "", **query: str) -> None:
        super().__init__(url, lambda element: None, {"room": room, **query}, page)
        self.room, self.host = room, urlsplit(url).netloc
        self.seat: dict[str, Any] = {}
        self.news: dict[str, Any] = {}
        self.had: dict[int, float] = {}
        self.strip = self.strip_fragment = ""
        self.line = None
        self.asked, self.since, self.runs = -1, 0.0, 0
        self.changed = asyncio.Event()
        self.text = ""

    async def __aenter__(self) -> Attendee:
        await asyncio.to_thread(self.go_there)
        await super().__aenter__()
        return self

    def go_there(self) -> None:
        """Where several processes serve, to the one that has the room, by a cookie as a browser gets it."""
        asked = Request(f"{self.origin}/rooms/{self.room}/there", method="POST", headers={"Origin": self.origin})
        with urlopen(asked, timeout=AGAIN) as answer:
            cookies = [header.partition(";")[0] for header in answer.headers.get_all("Set-Cookie", [])]
        last = cookies[-1:]  # the proxy's own is before it
        self.headers["Cookie"] = "; ".join(filter(None, (self.headers.get("Cookie"), *last)))

    async def __aexit__(self, *_) -> None:
        await self.hang_up()
        await super().__aexit__()

    async def join(self, patience: float = 120) -> None:
        """Open the page, take the seat and listen."""
        await self.send()
        async with asyncio.timeout(patience):
            await self.until(lambda: self.seat.get("who"))
        await self.listen_to_room()

    async def listen_to_room(self) -> None:
        query = urlencode({"who": self.seat["who"], "ticket": self.seat["ticket"]})
        self.line = await connect(
            f"ws://{self.host}/rooms/{self.room}/line?{query}", origin=self.origin, additional_headers=self.headers
        )
        self.hearing = asyncio.create_task(self.hear())

    async def hang_up(self) -> None:
        if self.line:
            self.hearing.cancel()
            await self.line.close()
            self.line = None

    async def hear(self) -> None:
        with suppress(ConnectionClosed):
            async for raw in self.line:
                if (message := json.loads(raw)) is not None:
                    self.news = self.news | message if "version" not in message else message
                    await self.follow()
                    self.changed.set()

    async def follow(self) -> None:
        """Ask for a run where there is something new, one at a time."""
        wanted = self.news.get("version", -1) if self.seat.get("follows") else self.news.get("fixed", -1)
        pending = self.asked > self.seat.get("taken", -1) and time.perf_counter() - self.since < AGAIN
        if self.seat.get("role") == "follows" and wanted > self.seat["taken"] and not pending:
            self.asked, self.since = wanted, time.perf_counter()
            await self.press("run")

    async def press(self, ask: str) -> None:
        """What a press on the strip, or the strip by itself, tells the page."""
        self.runs += 1
        message = self.request()
        message.rerun_script.fragment_id = self.strip_fragment
        own = message.rerun_script.widget_states.widgets.add()
        own.id, own.json_value = self.strip, "{}"
        state = message.rerun_script.widget_states.widgets.add()
        state.id = f"$$STREAMLIT_INTERNAL_KEY_{self.strip}__events"
        state.json_trigger_value = json.dumps([{"event": "chosen", "value": {"ask": ask, "n": time.monotonic_ns()}}])
        await self.socket.send(message.SerializeToString())

    async def answer(self, value: object, name: str = "") -> None:
        await self.line.send(json.dumps({"answer": value, "name": name}))

    async def until(self, true, patience: float = 60) -> None:
        """Wait until something is true that a message brings."""
        async with asyncio.timeout(patience):
            while not true():
                self.changed.clear()
                if true():
                    return
                await self.changed.wait()

    def read(self, delta, arrival: float) -> None:
        super().read(delta, arrival)
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "text_input" and element.text_input.label == "Your text" and element.text_input.set_value:
            self.text = element.text_input.value
        if kind == "bidi_component" and element.bidi_component.component_name == "headlight_room":
            header, _ = unpacked(element.bidi_component.bytes)
            if "taken" in header:
                self.seat, self.strip, self.strip_fragment = header, element.bidi_component.id, delta.fragment_id
                self.had.setdefault(header["taken"], arrival)
                self.changed.set()
                asyncio.get_running_loop().create_task(self.follow())
