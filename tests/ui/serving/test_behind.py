"""Behind a proxy that says whose address it speaks for: what comes is bounded as it is without one."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from benchmarks.attacks.network import BINARY, frame
from tests.ui.serving.small import dial, rest, serve_small, small_server
from ui.serving import frames
from ui.serving.bodies import Bodies

FOR = b"203.0.113.66"
PIECE, ENOUGH = bytes(65536), 64 * 2**20  # bytes: what is tried to send, more than the network and a proxy hold on their way
BODY = b"POST /body HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
LINE = (
    b"GET /rooms/ABCDEF/line HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


@contextmanager
def proxy_to(server: int) -> Iterator[int]:
    """The port of a proxy that adds a header to the first request of each connection, and passes everything else on as it is."""

    async def copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while part := await source.read(65536):
                target.write(part)
                await target.drain()
        target.close()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, there = await asyncio.open_connection("127.0.0.1", server)
        head = await reader.readuntil(b"\r\n")
        there.write(head + b"X-Forwarded-For: " + FOR + b"\r\n")
        await asyncio.gather(copy(reader, there), copy(behind, writer))

    async def run(door: socket.socket) -> None:
        async with await asyncio.start_server(pass_on, sock=door):
            started.set()
            await asyncio.to_thread(ended.wait)

    started, ended = threading.Event(), threading.Event()
    door = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=lambda: asyncio.run(run(door)), daemon=True)
    thread.start()
    assert started.wait(20)
    try:
        yield door.getsockname()[1]
    finally:
        ended.set()
        thread.join(20)


@pytest.fixture
def behind() -> Iterator[int]:
    with small_server(Bodies(serve_small)) as port, proxy_to(port) as behind:
        yield behind


def test_a_body_without_an_end_is_refused(behind):
    sent = 0
    with dial(behind) as line:
        line.sendall(BODY)
        with suppress(OSError):
            while sent < ENOUGH:
                line.sendall(b"10000\r\n" + PIECE + b"\r\n")
                sent += len(PIECE)
        assert sent < ENOUGH, "the server read on"
        received = rest(line)
    assert not received or b" 413 " in received.partition(b"\r\n")[0]


def test_a_message_that_is_too_long_ends_its_line_alone(behind):
    with dial(behind) as line, dial(behind) as other:
        for connection in (line, other):
            connection.sendall(LINE)
            assert b" 101 " in connection.recv(4096)
        line.sendall(frame(BINARY, b"", length=frames.OURS + 1))
        assert b"\x03\xf1" in rest(line), "1009, too big"
        other.sendall(frame(BINARY, b"four"))
        assert b"4" in other.recv(4096)
