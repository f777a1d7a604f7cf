"""A line between browsers and a server that is cut, or lies still, as a proxy does it to a quiet page, and sleep to a phone."""

from __future__ import annotations

import contextlib
import selectors
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

RESET = struct.pack("ii", 1, 0)  # a close that the other side hears as a reset


class Line:
    """Passes bytes between a port of its own and the server's; new connections go through as long as it is not still."""

    def __init__(self, server: int) -> None:
        self.server, self.pairs, self.flows = server, list[tuple[socket.socket, socket.socket]](), threading.Event()
        self.flows.set()
        self.door = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://localhost:{self.door.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # when it is closed
            while True:
                browser, _ = self.door.accept()
                try:
                    there = socket.create_connection(("127.0.0.1", self.server))
                except OSError:  # no server
                    browser.close()
                    continue
                self.pairs.append((browser, there))
                threading.Thread(target=self._pass, args=(browser, there), daemon=True).start()

    def _pass(self, browser: socket.socket, there: socket.socket) -> None:
        other = {browser: there, there: browser}
        with contextlib.suppress(OSError, ValueError), selectors.DefaultSelector() as chosen:
            for one in other:
                chosen.register(one, selectors.EVENT_READ)
            while True:
                for key, _ in chosen.select():
                    self.flows.wait()
                    if not (data := key.fileobj.recv(65536)):
                        return self._close(browser, there)
                    other[key.fileobj].sendall(data)
        self._close(browser, there)

    def _close(self, *both: socket.socket) -> None:
        for one in both:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def sleep(self) -> None:
        """Nothing comes through any more, and nobody is told."""
        self.flows.clear()

    def cut(self) -> None:
        """Every connection ends without a good-bye; new ones go through."""
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            self._close(*pair)
        self.flows.set()

    def close(self) -> None:
        self.door.close()
        self.cut()


@contextmanager
def line_to(port: int) -> Iterator[Line]:
    line = Line(port)
    try:
        yield line
    finally:
        line.close()
