"""The body of a request is bounded on every route, and what a page sends goes through whole."""

from __future__ import annotations

import asyncio
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.serving import Server
from ui.rooms.store import Rooms
from ui.serving.bodies import LARGEST, Bodies

PIECE, ENOUGH = b"x" * 65536, 64 * 2**20  # bytes: what is tried to send, more than the network holds on its way
ROUTES = (
    ("POST", "/rooms/ABCDEF/lead"),
    ("POST", "/rooms/ABCDEF/there"),
    ("GET", "/"),
    ("POST", "/_stcore/host-config"),
    ("PUT", "/_stcore/upload_file/x/y"),
)


def answer(parts: list[bytes], **headers: str) -> tuple[int, list[bytes], int]:
    """The status, the bodies that the app was given, and how many parts were read of a request in these parts."""
    sent, given, read = [], [], 0

    async def app(scope, receive, send) -> None:
        message = {"more_body": True}
        while message["more_body"]:
            message = await receive()
            given.append(message["body"])
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> dict:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": parts[read - 1], "more_body": read < len(parts)}

    async def send(message) -> None:
        sent.append(message)

    scope = {"type": "http", "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]}
    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        other.submit(asyncio.run, Bodies(app)(scope, receive, send)).result(30)
    return sent[0]["status"], given, read


@given(st.lists(st.binary(max_size=LARGEST // 3), min_size=1, max_size=8))
def test_a_body_goes_through_whole_or_is_refused_when_it_becomes_too_long(parts):
    status, given, read = answer(parts, transfer_encoding="chunked")
    if len(whole := b"".join(parts)) <= LARGEST:
        assert status == 200 and b"".join(given) == whole
    else:
        assert status == 413 and not given
        assert len(b"".join(parts[: read - 1])) <= LARGEST, "it read on after it knew"


@pytest.mark.parametrize("length", [str(LARGEST + 1), "9" * 5000])
def test_a_body_that_is_announced_as_too_long_is_not_read_at_all(length):
    assert answer([b"x"], content_length=length) == (413, [], 0)


def test_a_teacher_s_key_is_far_below_the_bound():
    assert len(Rooms(b"secret", 60).key("ABCDEF")) * 10 < LARGEST


def sent_until_refused(server: Server, method: str, path: str) -> tuple[bytes, int]:
    """What the server says to a body that never ends, and how many bytes of it it took."""
    taken = 0
    with socket.create_connection(("localhost", urlsplit(server.url).port), timeout=20) as line:
        line.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        with suppress(ConnectionError):
            while taken < ENOUGH:
                line.sendall(b"%x\r\n%b\r\n" % (len(PIECE), PIECE))
                taken += len(PIECE)
        received = b""
        with suppress(ConnectionError):
            received = line.recv(65536)
    return received, taken


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_a_body_that_never_ends_ends_its_connection(server, method, path):
    received, taken = sent_until_refused(server, method, path)
    assert taken < ENOUGH, received
    assert not received or b" 413 " in received.partition(b"\r\n")[0]
