"""Sends small packets at once, and gives up data that nobody reads.

Streamlit opens its socket without naming the protocol, and asyncio does not switch off Nagle's algorithm for such a socket: the
second part of an answer, or of what a run draws, waits until the browser has confirmed the first, which takes it about 40 ms. And
a connection that the server has closed stays open as long as the other side does not read the remaining data.
"""

from __future__ import annotations

import socket
import sys
from contextlib import suppress

import psutil

from ui.serving.deadlines import UNREAD


def send_at_once() -> int:
    """Set this on the listening sockets of this process, from which connections inherit it; return the number of sockets."""
    ours = [connection for connection in psutil.Process().net_connections("tcp") if connection.status == psutil.CONN_LISTEN]
    done = 0
    for connection in ours:
        with (
            suppress(OSError),
            socket.fromfd(connection.fd, connection.family, connection.type) as copy,
        ):  # a copy that closes, of the same socket
            copy.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if sys.platform == "linux":
                copy.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(1000 * UNREAD))
            done += 1
    return done
