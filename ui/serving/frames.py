"""The lines by which browsers send messages to a server, with limits on size (also decompressed), number and time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from streamlit.runtime.runtime_util import get_max_widget_state_size_bytes
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from ui.serving import connection_limit, waiting_bytes
from ui.serving.deadlines import Deadline, Read
from ui.serving.flood import Bucket

if TYPE_CHECKING:
    from uvicorn._types import ASGIReceiveEvent
    from websockets.http11 import Request

STREAM = "/_stcore/stream"  # the line of a page; how long its messages may be is set in .streamlit/config.toml
LINE = "/live"  # the line by which a text becomes a picture
ASKED = 2**17  # bytes of a message there: two texts that a link could carry, and what is chosen
OURS = 32_768  # bytes of a message on any other line: an answer in a room has 4,000 characters, of at most 6 bytes in JSON
PIECE = 2048  # bytes that are looked at in one go: inflated they are two million at most
FRAME = 1000  # bytes that reading any frame costs, by the time it takes: so many are inflated meanwhile
RATE = 4_000_000  # bytes a second that are read of a line: the longest text once or twice, or a key that is held
AT_ONCE = 12_000_000  # bytes that may come at once before: a few messages of the longest text
TURN = 250_000  # bytes after which others have their turn, a few milliseconds
MESSAGE = 60.0  # seconds in which a message must be whole: the longest one takes them at 50 kB a second
FIRST = 60.0  # seconds in which a page must ask for something; it does so at once


class Frames(Read, WebSocketsSansIOProtocol):
    """A line. Incoming data goes to uvicorn in pieces, and no further piece while a message waits to be read.

    Uvicorn alone would decompress everything that arrives at once: a quarter of a megabyte may become a quarter of a gigabyte.
    """

    places = connection_limit.Places()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._arrived, self._cost, self._rests = bytearray(), 0, False
        self._bucket = Bucket(RATE, AT_ONCE)
        self._message, self._first = Deadline(MESSAGE, self.end), Deadline(FIRST, self.end)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.places.take(self, self.client[0] if self.client else "")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.places.leave(self)
        waiting_bytes.of_all.forget(self)
        for deadline in (self._message, self._first):
            deadline.stop()

    def data_received(self, data: bytes) -> None:
        self._arrived += data
        self._take()

    async def receive(self) -> ASGIReceiveEvent:
        message = await super().receive()
        if self._rests and not self.transport.is_closing():
            self.transport.pause_reading()
        self._take()
        return message

    def _take(self) -> None:
        """Process the arrived data until there is a message for the app or the line has used its share."""
        spent = 0
        while self._arrived and not self.read_paused and not self._rests and not self.transport.is_closing():
            piece = bytes(self._arrived[:PIECE])
            del self._arrived[:PIECE]
            self._cost = 0
            super().data_received(piece)
            if self.conn.handshake_exc and not self.handshake_initiated:
                return self._refuse()
            spent += self._cost
            if (wait := self._bucket.take(self._cost)) or spent > TURN:
                self._rest(wait)
        self._watch()

    def _refuse(self) -> None:
        """Answer an unreadable handshake, for which uvicorn does nothing."""
        self.handshake_complete = self.close_sent = True
        self._arrived.clear()
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()

    def _rest(self, seconds: float) -> None:
        self._rests = True
        self.transport.pause_reading()
        self.loop.call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        self._rests = False
        if not self.transport.is_closing():
            if not self.read_paused:
                self.transport.resume_reading()
            self._take()

    def _watch(self) -> None:
        """Check an incomplete message against its deadline and its share of memory."""
        unfinished = self.conn.current_size is not None or bool(self.conn.reader.buffer)
        if not self.read_paused:  # else it is the server that does not read on
            (self._message.start if unfinished else self._message.stop)()
        size = len(self._arrived) + len(self.conn.reader.buffer) + (self.conn.current_size or 0) + FRAME * len(self.frames)
        waiting_bytes.of_all.note(self, size if unfinished or self._arrived else 0, self.end)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        path = event.path.partition("?")[0]
        if path.endswith(STREAM):
            self.conn.max_message_size = get_max_widget_state_size_bytes()
            self._first.start()
        else:
            self.conn.max_message_size = ASKED if path.endswith(LINE) else OURS

    def handle_events(self) -> None:
        self._cost = sum(FRAME + len(event.data) for event in self.conn.events if isinstance(event, Frame))
        super().handle_events()

    def send_receive_event_to_app(self) -> None:
        self._message.stop()
        self._first.stop()
        super().send_receive_event_to_app()

    def handle_ping(self) -> None:
        """Answer a ping, unless the browser reads no answers, which would then wait in memory."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self.conn.data_to_send()

    def end(self) -> None:
        """Close the line: a browser opens another one, and at once sends everything that it shows."""
        if self.close_sent or self.transport.is_closing():
            return
        self.stop_keepalive()
        self.conn.fail(CloseCode.TRY_AGAIN_LATER)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()
