"""Sends everything that one turn of the event loop writes to a browser in one go.

The server hands each message to the network by itself, and lets go of Python's lock for each. When the teacher of sixty moves,
these are two and a half thousand times, and each time a run may take the lock for longer than it takes to send a message.

Gain: fewer calls of the system for each answer, most in a full room; `benchmarks.replacements`, "batched_writes".
Needless when uvicorn joins what one turn writes. No upstream issue is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

if TYPE_CHECKING:
    import asyncio

begin = WebSocketsSansIOProtocol.connection_made


class BatchingTransport:
    """A connection to a browser, which gathers what is written until the event loop comes round. All else is as without it."""

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
        """Close it, once all that is written has been sent."""
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
    """Let all lines of a server do so."""
    WebSocketsSansIOProtocol.connection_made = begin_gathering  # type: ignore[method-assign, assignment]
