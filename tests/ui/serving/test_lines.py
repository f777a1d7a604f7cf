"""A line that gathers what is written says to a browser just what it would say without."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from tests.ui.serving.replaced import needs
from ui.serving import batched_writes

pytestmark = needs("batched_writes")


class Network:
    """The transport of a connection, which remembers what it is told."""

    def __init__(self) -> None:
        self.written: list[bytes | str] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True
        self.written.append("closed")

    def get_extra_info(self, name: str) -> str:
        return f"its {name}"


def written_in_turns(turns: list[list[bytes]], close: bool) -> list[bytes | str]:
    """What a network is told where that is written in these turns of an event loop, and the line is closed with the last."""

    async def speak() -> list[bytes | str]:
        network = Network()
        line = batched_writes.BatchingTransport(network, asyncio.get_running_loop())  # type: ignore[arg-type]
        for written in turns:
            for part in written:
                line.write(part)
            if close and written is turns[-1]:
                line.close()
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        return network.written

    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        return other.submit(asyncio.run, speak()).result(30)


TURNS = st.lists(st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=9), min_size=1, max_size=5)


@given(TURNS, st.booleans())
def test_each_turn_goes_in_one_go_and_nothing_is_lost_by_closing(turns, close):
    assert written_in_turns(turns, close) == [*map(b"".join, turns), *(["closed"] if close else [])]


def test_what_is_written_to_a_connection_that_is_gone_is_let_go():
    async def speak() -> list[bytes | str]:
        network = Network()
        line = batched_writes.BatchingTransport(network, asyncio.get_running_loop())  # type: ignore[arg-type]
        line.write(b"late")
        network.closed = True
        await asyncio.sleep(0)
        assert line.get_extra_info("peername") == "its peername", "all else is as without it"
        return network.written

    with ThreadPoolExecutor(1) as other:
        assert other.submit(asyncio.run, speak()).result(30) == []


def test_a_protocol_writes_to_its_line_and_to_nothing_else(monkeypatch):
    """It would go past what is gathered where it kept the transport under another name."""
    source = inspect.getsource(WebSocketsSansIOProtocol)
    assert "self.transport.write(" in source and "transport.writelines(" not in source
    assert source.count("transport.write(") == source.count("self.transport.write(")
    monkeypatch.setattr(WebSocketsSansIOProtocol, "connection_made", batched_writes.begin)
    batched_writes.gather()
    assert WebSocketsSansIOProtocol.connection_made is batched_writes.begin_gathering
