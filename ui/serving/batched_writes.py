"""Sends a browser everything that one turn of the event loop writes to it as one packet.

The server hands each message to the network separately, and releases Python's lock each time. When the teacher of a class of
sixty moves, this happens two and a half thousand times, and each time a run may hold the lock for longer than it takes to send a
message.

Gain: fewer system calls for each answer, most of all in a full room; `benchmarks.replacements`, "batched_writes".
Needless when uvicorn joins what one turn writes. No upstream issue is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    import asyncio

begin = WebSocketsSansIOProtocol.connection_made


class BatchingTransport:
    """A connection to a browser that collects writes until the next turn of the event loop. All else is unchanged."""

    def __init__(self, line: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._line, self._loop = line, loop
        self._written: list[bytes] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._line, name)

    def write(self, data: bytes) -> None:
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)

    def close(self) -> None:
        """Close the connection after everything written has been sent."""
        self._send()
        self._line.close()

    def _send(self) -> None:
        if self._written and not self._line.is_closing():
            self._line.write(b"".join(self._written))
        self._written.clear()


def begin_gathering(protocol: WebSocketsSansIOProtocol, line: asyncio.BaseTransport) -> None:
    begin(protocol, line)
    protocol.transport = cast("asyncio.Transport", BatchingTransport(protocol.transport, protocol.loop))


def gather() -> None:
    """Let all lines of a server collect their writes."""
    WebSocketsSansIOProtocol.connection_made = begin_gathering  # type: ignore[method-assign, assignment]
