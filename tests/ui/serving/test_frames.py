"""What comes on a line is bounded: how long a message is, how far it is inflated, how long it takes, and how much there is."""

from __future__ import annotations

import asyncio
import os
import re
import zlib
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from socket import socket

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.server import ServerState
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from benchmarks.attacks.network import BINARY, MORE, PING, frame
from tests.serving import ROOT
from tests.ui.serving.small import Wire, dial, rest, serve_small, small_server
from ui.choices.text_boxes import LONGEST
from ui.serving import deadlines, frames, waiting_bytes
from ui.serving.flood import Bucket
from ui.serving.frames import FRAME, PIECE, STREAM, Frames
from ui.serving.waiting_bytes import WaitingBytes

SOON = 0.2  # seconds
LIMIT = 1_000_000  # bytes of a message in these tests
LINE = "/rooms/ABCDEF/line"
HEAD = (
    "GET {} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=12\r\n\r\n"
)
TEXT = 1


@pytest.fixture(autouse=True)
def limit(monkeypatch) -> None:
    monkeypatch.setattr(frames, "get_max_widget_state_size_bytes", lambda: LIMIT)
    monkeypatch.setattr(waiting_bytes, "of_all", WaitingBytes())


@pytest.fixture
def impatient(monkeypatch) -> None:
    monkeypatch.setattr(deadlines, "UNREAD", SOON)
    for name in ("MESSAGE", "FIRST"):
        monkeypatch.setattr(frames, name, SOON)


def deflated(data: bytes) -> bytes:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -12)
    return (deflate.compress(data) + deflate.flush(zlib.Z_SYNC_FLUSH))[:-4]


BOMB = frame(BINARY, deflated(bytes(LIMIT)), deflated=True)  # a thousand bytes that are a million


@contextmanager
def line_to(port: int, path: str = STREAM) -> Iterator[socket]:
    with dial(port) as line:
        line.sendall(HEAD.format(path).encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 101")
        yield line


def code_of_end(words: bytes) -> int:
    """The code with which the server closes a line."""
    at = words.rindex(b"\x88")
    return int.from_bytes(words[at + 2 : at + 4])


# ---------------------------------------------------------------- how long a message is


@pytest.mark.parametrize(
    ("path", "most"), [(STREAM, LIMIT), (f"/lens{STREAM}?x", LIMIT), (LINE, frames.OURS), (frames.LINE, frames.ASKED)]
)
def test_a_message_as_long_as_allowed_comes_through_and_a_longer_one_ends_its_line(path, most):
    with small_server() as port:
        with connect(f"ws://127.0.0.1:{port}{path}") as line:
            for message in (os.urandom(most * 9 // 10), "a" * most):  # noise is longer when it is deflated
                line.send(message)
                assert line.recv(20) == str(len(message))
            with pytest.raises(ConnectionClosed) as ended:
                line.send("a" * (most + 1))
                line.recv(20)
            assert ended.value.rcvd.code == 1009
        with line_to(port, path) as line:
            line.sendall(frame(BINARY, b"", length=most + 1))
            assert code_of_end(rest(line)) == 1009, "it is not waited for"
        with line_to(port, path) as line:
            for number in range(9):
                line.sendall(frame(MORE if number else BINARY, b"x" * (most // 8), whole=False))
            assert code_of_end(rest(line)) == 1009, "its parts count together"


def test_the_longest_texts_of_a_page_are_shorter_than_what_is_allowed():
    """The text and the second one, each in its box and, nine signs for each of its own, in the address; and a part's text."""
    settings = (ROOT / ".streamlit" / "config.toml").read_text("utf-8")
    most = int(re.search(r"^maxWidgetStateSize = (\d+)$", settings, re.M)[1]) * 10**6
    assert most > 1.2 * LONGEST * (3 + 9 + 3 + 9 + 3)
    assert waiting_bytes.MOST > 60 * LONGEST * (3 + 9), "a class that pastes one at the same time"


def test_messages_of_any_length_are_heard_in_their_order():
    lengths = [0, 1, 125, 126, PIECE - 7, PIECE, PIECE + 1, 65536, 1, LIMIT // 2, 3 * PIECE, 0]
    with small_server() as port, connect(f"ws://127.0.0.1:{port}{STREAM}") as line:
        for length in lengths:
            line.send(os.urandom(length))
        line.ping()
        assert [line.recv(20) for _ in lengths] == list(map(str, lengths))


# ---------------------------------------------------------------- without a network


async def never_take(scope, receive, send) -> None:
    """An app that opens a line and takes no message."""
    await receive()
    await send({"type": "websocket.accept"})
    await asyncio.Event().wait()


def on_a_line(story: Callable[[Frames, Wire], Awaitable[None]], app=never_take) -> None:
    """Tell a story of a line that has been opened to an app."""

    async def tell() -> None:
        config = uvicorn.Config(app, ws="websockets-sansio", ws_max_size=2**28, log_level="critical", lifespan="off")
        config.load()
        line, wire = Frames(config=config, server_state=ServerState(), app_state={}), Wire()
        line.connection_made(wire)
        line.data_received(HEAD.format(STREAM).encode())
        while b" 101 " not in wire.written:
            await asyncio.sleep(0)
        wire.written = b""
        async with asyncio.timeout(20):
            await story(line, wire)
        line.connection_lost(None)
        for task in line.tasks:
            task.cancel()

    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        other.submit(asyncio.run, tell()).result(60)


def size_of_queue(line: Frames) -> int:
    return sum(len(message.get("bytes") or b"") for message in line.queue._queue)  # type: ignore[attr-defined]


def test_what_the_network_brings_at_once_is_not_inflated_at_once():
    """A quarter of a megabyte, as the network brings it in one go, would be a quarter of a gigabyte."""

    async def story(line: Frames, wire: Wire) -> None:
        line.data_received(BOMB * 250)
        assert LIMIT <= size_of_queue(line) <= PIECE // len(BOMB) * LIMIT + LIMIT
        assert not wire.reading
        waiting = size_of_queue(line)
        for _ in range(4):
            waiting -= len((await line.receive())["bytes"])
            assert size_of_queue(line) <= PIECE // len(BOMB) * LIMIT + LIMIT

    on_a_line(story)


@pytest.mark.parametrize(("flood", "cost"), [(frame(PING, b"") * 40_000, FRAME / 6), (BOMB * 250, LIMIT / len(BOMB))])
def test_a_line_that_brings_too_much_rests_and_others_have_their_turn(monkeypatch, flood, cost):
    """Frames with nothing in them, which take their time, and messages that are a thousand times as long as what is sent."""
    monkeypatch.setattr(frames, "Bucket", lambda rate, full: Bucket(rate, full, lambda: 0.0))  # no time goes by

    async def take(scope, receive, send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] == "websocket.receive":
            pass

    async def story(line: Frames, wire: Wire) -> None:
        line.data_received(flood)
        assert len(flood) - len(line._arrived) <= frames.TURN / cost + 2 * PIECE, "in one go"
        for _ in range(1000):
            await asyncio.sleep(0)
        assert len(flood) - len(line._arrived) <= frames.AT_ONCE / cost + 2 * PIECE and not wire.reading

    on_a_line(story, take)


def test_somebody_who_reads_no_answers_is_not_answered_without_end():
    async def story(line: Frames, wire: Wire) -> None:
        line.data_received(frame(PING, b"1"))
        assert len(wire.written) == 3
        line.pause_writing()
        line.data_received(frame(PING, b"2") * 1000)
        while line._arrived:
            await asyncio.sleep(0)
        assert len(wire.written) == 3
        line.resume_writing()
        line.data_received(frame(PING, b"3"))
        while line._arrived:
            await asyncio.sleep(0)
        assert wire.written.endswith(b"3") and len(wire.written) == 6

    on_a_line(story)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60)), max_size=60))
def test_all_lines_together_hold_no_more_than_allowed_and_who_holds_most_goes_first(notes):
    here, sizes = WaitingBytes(100), dict[int, int]()

    def end(who: int) -> None:
        assert sizes[who] == max(sizes.values())
        sizes[who] = 0

    for who, size in notes:
        sizes[who] = size
        here.note(who, size, lambda who=who: end(who))
        assert here.total == sum(sizes.values()) <= 100
    for who in sizes:
        here.forget(who)
    assert here.total == 0


def test_halves_of_messages_are_bounded_over_all_lines(monkeypatch):
    monkeypatch.setattr(waiting_bytes, "of_all", WaitingBytes(3 * LIMIT))
    half = frame(BINARY, bytes(LIMIT // 2), length=LIMIT)
    with small_server(deflate=False) as port, line_to(port) as greedy, line_to(port) as modest:
        modest.sendall(frame(BINARY, b"half of ", length=18))
        greedy.sendall(frame(BINARY, bytes(LIMIT - 1), length=LIMIT))
        lines = [dial(port) for _ in range(6)]
        for line in lines:
            line.sendall(HEAD.format(STREAM).encode())
            assert line.recv(4096).startswith(b"HTTP/1.1 101")
            line.sendall(half)
        assert code_of_end(rest(greedy)) == 1013, "whoever holds most goes first"
        modest.sendall(b"a greeting")
        assert modest.recv(100).endswith(b"18")
        for line in lines:
            line.close()


# ---------------------------------------------------------------- how long it takes


@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"\x82",
        frame(BINARY, b"half", length=8),
        frame(TEXT, b"a part", whole=False),
        frame(TEXT, b"", whole=False) + frame(PING, b"") * 5 + frame(MORE, b"", whole=False),
        frame(BINARY, b"whole") + frame(BINARY, b"half", length=8),
    ],
)
def test_a_line_on_which_no_whole_message_comes_is_closed(impatient, half):
    with small_server() as port, line_to(port) as line:
        line.sendall(half)
        assert code_of_end(rest(line)) == 1013


def test_a_line_of_ours_may_be_silent_for_as_long_as_it_likes(impatient):
    """In a room people listen."""
    with small_server(deflate=False) as port, line_to(port, LINE) as line:
        with line_to(port) as page:
            assert code_of_end(rest(page)) == 1013
        line.sendall(frame(BINARY, b"now"))
        assert line.recv(10).endswith(b"3")


def test_a_line_that_reads_nothing_is_let_go_and_one_that_reads_late_is_not(impatient):
    async def story(line: Frames, wire: Wire) -> None:
        line._first.stop()
        line.pause_writing()
        line.resume_writing()
        assert line.unread._timer is None and not wire.closed
        line.pause_writing()
        while not wire.closed:
            await asyncio.sleep(0.01)

    on_a_line(story)


# ---------------------------------------------------------------- handshakes


@pytest.mark.parametrize(
    ("more", "status"),
    [
        (f"?{'x' * 9000}", b"414"),
        (" HTTP/1.1\r\nCookie: " + "x" * 9000 + "\r\nX:", b"431"),
        ("".join([" HTTP/1.1", *("\r\nX: x" for _ in range(200)), "\r\nX:"]), b"431"),
    ],
)
def test_a_handshake_that_cannot_be_read_gets_an_answer(more, status):
    with small_server() as port, dial(port) as line:
        line.sendall(HEAD.format(STREAM + more).encode())
        assert rest(line).split()[1] == status


def test_a_request_that_is_no_handshake_gets_an_answer():
    with small_server(serve_small) as port:
        for change in (("Version: 13", "Version: 7"), ("Key: AAAAAAAAAAAAAAAAAAAAAA==", "Key: x"), ("GET", "POST")):
            with dial(port) as line:
                line.sendall(HEAD.format(STREAM).replace(*change).encode())
                assert rest(line).startswith(b"HTTP/1.1 4")
