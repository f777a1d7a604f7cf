"""A line between browsers and a server that is cut, or lies still, as a proxy does it to a quiet page, and sleep to a phone."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager

RESET = struct.pack("ii", 1, 0)  # a close that the other side hears as a reset


class Line:
    """Passes bytes between a port of its own and the server's; new connections go through as long as it is not still.

    flows: what all bytes wait for. answers: what those wait for that the server sends to pages; held: set when some wait.
    """

    def __init__(self, server: int) -> None:
        self.server, self.pairs = server, list[tuple[socket.socket, socket.socket]]()
        self.flows, self.answers, self.held = threading.Event(), threading.Event(), threading.Event()
        self.flows.set()
        self.answers.set()
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
        with contextlib.suppress(OSError):
            data = browser.recv(65536)
            back = threading.Thread(target=self._pass_back, args=(there, browser, b"/_stcore/stream" in data), daemon=True)
            back.start()
            while data:
                self.flows.wait()
                there.sendall(data)
                data = browser.recv(65536)
        self._close(browser, there)

    def _pass_back(self, there: socket.socket, browser: socket.socket, runs: bool) -> None:
        with contextlib.suppress(OSError):
            while data := there.recv(65536):
                self.flows.wait()
                if runs and not self.answers.is_set():
                    self.held.set()
                    self.answers.wait()
                browser.sendall(data)
        self._close(browser, there)

    def _close(self, *both: socket.socket) -> None:
        for line in both:
            with contextlib.suppress(OSError):
                line.shutdown(socket.SHUT_RDWR)
            line.close()

    def sleep(self) -> None:
        """Nothing comes through any more, and nobody is told."""
        self.flows.clear()

    def hold_answers(self) -> None:
        """Hold back what the server says to pages, as on a slow network, until `answers` is set."""
        self.held.clear()
        self.answers.clear()

    def cut(self) -> None:
        """Every connection ends without a good-bye; new ones go through."""
        pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for line in pair:
                with contextlib.suppress(OSError):
                    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
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
