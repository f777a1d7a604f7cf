"""A visitor without a browser: a client of Streamlit's own protocol that types into the text box and reads what comes back."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect


class Wire(ClientConnection):
    """A connection that counts the bytes that come through it, as they were sent: compressed, with their frames."""

    came = 0

    def data_received(self, data: bytes) -> None:
        self.came += len(data)
        super().data_received(data)


@dataclass
class Tally:
    """What became of what one visitor typed."""

    sent: dict[str, float] = field(default_factory=dict)  # when each text was typed, by time.perf_counter
    took: dict[str, float] = field(default_factory=dict)  # seconds until its answer was here
    bytes: int = 0
    messages: int = 0
    errors: list[str] = field(default_factory=list)  # what the page said in red


class Visitor:
    """One browser window's worth of protocol. `answered(element)` tells the text that a drawn element answers, or None."""

    def __init__(self, url: str, answered, query: dict[str, str] | None = None, page: str = ""):
        parts = urlsplit(url)
        self.address = f"ws://{parts.netloc}{parts.path}/_stcore/stream"
        self.origin, self.query, self.page = f"http://{parts.netloc}", urlencode(query or {}), page
        self.answered, self.tally = answered, Tally()
        self.headers: dict[str, str] = {}  # that the browser sends along, such as a cookie
        self.box = self.fragment = self.script = self.session = ""
        self.finished, self.drawn = asyncio.Event(), asyncio.Event()
        self.cache: dict[str, ForwardMsg] = {}  # large messages by their hashes, of which the server need send no more than these

    async def __aenter__(self) -> Visitor:
        self.socket = await connect(
            self.address,
            subprotocols=["streamlit", *(["no-token", self.session] if self.session else [])],
            origin=self.origin,
            additional_headers=self.headers,
            max_size=2**28,
            ping_interval=None,
            create_connection=Wire,
        )
        self.listening = asyncio.create_task(self.listen())
        return self

    async def __aexit__(self, *_) -> None:
        self.listening.cancel()
        await self.socket.close()

    async def open(self, patience: float = 120) -> None:
        """Ask for the page until the text box and its answer are there: while the model of a link is loading it has no answer,
        and asks again by a timer, as a browser does."""
        async with asyncio.timeout(patience):
            while not self.drawn.is_set():
                self.finished.clear()
                await self.send()
                waits = [asyncio.create_task(event.wait()) for event in (self.drawn, self.finished)]
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
                for wait in waits:
                    wait.cancel()
                await asyncio.sleep(0 if self.drawn.is_set() else 0.2)

    async def come_back(self, text: str) -> None:
        """What a browser does whose line has ended: it connects again, to the visit that it had, and sends what it shows."""
        self.listening.cancel()
        self.fragment = ""  # the whole page
        self.tally.took.pop(text, None)
        self.finished.clear()
        await self.__aenter__()
        await self.type(text)

    async def type(self, text: str) -> None:
        """What a key press sends: the whole text of the box, for its fragment alone."""
        self.tally.sent[text] = time.perf_counter()
        await self.send(text)

    async def visit(self, page: str, query: dict[str, str], patience: float = 60) -> None:
        """Another page, as the menu opens it, until its run is over."""
        self.page, self.query, self.fragment, self.script = page, urlencode(query), "", ""
        self.finished.clear()
        await self.send()
        async with asyncio.timeout(patience):
            await self.finished.wait()

    async def send(self, text: str | None = None) -> None:
        message = self.request()
        if self.page:
            message.rerun_script.page_name = self.page
        if text is not None:
            message.rerun_script.fragment_id = self.fragment
            state = message.rerun_script.widget_states.widgets.add()
            state.id, state.string_value = self.box, text
        await self.socket.send(message.SerializeToString())

    def request(self) -> BackMsg:
        """What a browser says of itself whenever it asks for a run."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        if self.script:
            message.rerun_script.page_script_hash = self.script
        message.rerun_script.cached_message_hashes.extend(self.cache)
        return message

    async def listen(self) -> None:
        async for raw in self.socket:
            arrival = time.perf_counter()
            self.tally.bytes += self.socket.came
            self.socket.came = 0
            self.tally.messages += 1
            message = self.whole(ForwardMsg.FromString(raw))
            match message.WhichOneof("type"):
                case "new_session":
                    self.script = message.new_session.page_script_hash
                    self.session = message.new_session.initialize.session_id
                case "navigation":  # of a first run it knows more than what began it
                    self.script = message.navigation.page_script_hash
                case "script_finished" if message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN:  # another one follows
                    self.finished.set()
                case "delta" if message.delta.WhichOneof("type") == "new_element":
                    self.read(message.delta, arrival)

    def whole(self, message: ForwardMsg) -> ForwardMsg:
        """A message, where another stands for it that it was before."""
        if message.WhichOneof("type") == "ref_hash":
            return self.cache[message.ref_hash]
        if message.metadata.cacheable:
            self.cache[message.hash] = message
        return message

    def read(self, delta, arrival: float) -> None:
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "text_input" and element.text_input.label == "Your text":
            self.box, self.fragment = element.text_input.id, delta.fragment_id
        elif kind in ("exception", "alert") and (kind == "exception" or element.alert.format == element.alert.ERROR):
            self.tally.errors.append(str(getattr(element, kind))[:300])
        text = self.answered(element)
        if text is not None:
            self.drawn.set()
            if text in self.tally.sent:
                self.tally.took.setdefault(text, arrival - self.tally.sent[text])
