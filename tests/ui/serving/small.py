"""A small app behind the connections of ours, on a port of its own: a server that is there at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import uvicorn

from ui.serving import connections

HELLO = b"Hello"
FILE = b"x" * 2**20


async def serve_small(scope, receive, send) -> None:
    """/: a greeting; /body: the length of what was sent; /file: a megabyte; lines: each message is answered by its length."""
    if scope["type"] == "lifespan":
        return
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (message := await receive())["type"] == "websocket.receive":
            await send({"type": "websocket.send", "text": str(len(message.get("bytes") or message.get("text") or ""))})
        return
    body, more = HELLO, scope["path"] == "/body"
    read = 0
    while more:
        message = await receive()
        read, more = read + len(message.get("body", b"")), message.get("more_body", False)
        body = str(read).encode()
    if scope["path"] == "/file":
        body = FILE
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", str(len(body)).encode())]})
    await send({"type": "http.response.body", "body": body})


@contextmanager
def small_server(app: Callable[..., Awaitable[None]] = serve_small, deflate: bool = True) -> Iterator[int]:
    """The port of a server of this app, with our connections; what they allow is set by patches before."""
    config = uvicorn.Config(
        app, port=0, ws="websockets-sansio", ws_per_message_deflate=deflate, ws_max_size=2**28, log_level="info", lifespan="off"
    )
    config.load()
    connections.bound(config)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as door:
        thread = threading.Thread(target=lambda: server.run([door]))
        thread.start()
        try:
            yield door.getsockname()[1]
        finally:
            server.force_exit = server.should_exit = True
            thread.join(20)


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=20)


def rest(line: socket.socket) -> bytes:
    """All that comes until the server ends a connection. Raises TimeoutError where it does not."""
    received = b""
    try:
        while part := line.recv(65536):
            received += part
    except ConnectionError:
        pass
    return received


class Wire:
    """A transport without a network, which remembers what is done with it."""

    def __init__(self) -> None:
        self.written, self.reading, self.closed = b"", True, False

    def write(self, data: bytes) -> None:
        self.written += data

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = True

    def get_extra_info(self, name: str) -> None:
        return None
