"""What a server sends leaves at once."""

from __future__ import annotations

import asyncio
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from ui.serving import packets, sending
from ui.serving.deadlines import UNREAD


def connected(listening: socket.socket) -> bool:
    """Whether a connection that is taken at a socket sends small packets at once."""
    with socket.create_connection(listening.getsockname()[:2]), listening.accept()[0] as taken:
        return bool(taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))


@pytest.mark.parametrize(("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_a_connection_of_a_server_does_not_wait_to_be_confirmed(family, address):
    """Its socket names no protocol, as Streamlit's does not: asyncio leaves such a one as it is."""
    with socket.socket(family) as listening:
        try:
            listening.bind((address, 0))
        except OSError:
            pytest.skip(f"This machine has no {address}.")
        listening.listen()
        assert not connected(listening), "else there is nothing to do"
        assert packets.send_at_once() >= 1
        assert connected(listening)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such setting")
def test_a_connection_that_takes_nothing_is_given_up_also_after_the_server_has_closed_it():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        packets.send_at_once()
        with socket.create_connection(listening.getsockname()), listening.accept()[0] as taken:
            assert taken.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 1000 * UNREAD


def test_a_server_that_starts_sees_to_it(monkeypatch):
    monkeypatch.setattr(sending.logs, "set_up", lambda: None)  # these change this process
    monkeypatch.setattr(sending.replacements, "install", lambda loop: None)

    async def start() -> bool:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen()
            async with sending.lifespan(None):  # type: ignore[arg-type]
                return connected(listening)

    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        assert other.submit(asyncio.run, start()).result()
