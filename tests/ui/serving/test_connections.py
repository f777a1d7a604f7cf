"""Connections that are silent, slow, deaf or too many come to an end, and others are answered meanwhile."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.server import ServerState

from tests.serving import ROOT
from tests.ui.serving.small import HELLO, Wire, dial, rest, serve_small, small_server
from ui.serving import connection_limit, connections, deadlines
from ui.serving.connection_limit import BEYOND, Places, network_of
from ui.serving.connections import Connection

SOON = 0.2  # seconds: what takes longer than that is late in these tests
GET = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


@pytest.fixture
def impatient(monkeypatch) -> None:
    monkeypatch.setattr(connections, "WHOLE", SOON)
    monkeypatch.setattr(deadlines, "UNREAD", SOON)


def on_a_connection(story: Callable[[Connection, Wire], Awaitable[None]]) -> None:
    """Tell a story of a connection without a network to the small app."""

    async def tell() -> None:
        config = uvicorn.Config(serve_small, log_level="critical", lifespan="off")
        config.load()
        connection, wire = Connection(config, ServerState(), {}), Wire()
        connection.connection_made(wire)  # type: ignore[arg-type]
        try:
            async with asyncio.timeout(20):
                await story(connection, wire)
        finally:
            connection.connection_lost(None)

    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        other.submit(asyncio.run, tell()).result(60)


async def end(wire: Wire) -> None:
    while not wire.closed:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("words", "answers"),
    [
        (b"", [b"408"]),
        (b"GET / HT", [b"408"]),
        (GET[:-2], [b"408"]),
        (GET + b"GET", [b"200", b"408"]),
        (b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nhalf", []),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", [b"200"]),
    ],
)
def test_a_connection_on_which_no_whole_request_comes_is_closed(impatient, words, answers):
    async def story(connection: Connection, wire: Wire) -> None:
        if words:
            connection.data_received(words)
        await end(wire)
        assert re.findall(rb"HTTP/1.1 (\d+)", wire.written) == answers

    on_a_connection(story)


def test_a_request_that_drips_has_no_more_time_than_another(impatient):
    async def story(connection: Connection, wire: Wire) -> None:
        connection.data_received(b"GET /")
        while not wire.closed:
            connection.data_received(b"x")
            await asyncio.sleep(SOON / 10)

    on_a_connection(story)


def test_a_server_that_was_busy_hears_what_has_come_before_it_gives_up(monkeypatch):
    """As Python stands still for a while when a large library is imported: the request is there all the time."""
    monkeypatch.setattr(connections, "WHOLE", SOON)
    stop, go_on, hear = threading.Event(), threading.Event(), Connection.data_received

    def stand_still(connection: Connection, data: bytes) -> None:
        if b"/stop" in data:
            stop.set()
            go_on.wait(20)
            time.sleep(2 * SOON)
        hear(connection, data)

    monkeypatch.setattr(Connection, "data_received", stand_still)
    with small_server() as port, dial(port) as busy, dial(port) as other:
        other.sendall(GET)
        while HELLO not in other.recv(1000):
            pass
        busy.sendall(LAST.replace(b"/ ", b"/stop ", 1))
        assert stop.wait(20)
        other.sendall(LAST)
        go_on.set()
        assert HELLO in rest(other)


def test_a_browser_that_reads_nothing_is_let_go_and_one_that_reads_late_is_not(impatient):
    async def story(connection: Connection, wire: Wire) -> None:
        connection.data_received(GET)
        connection.pause_writing()  # as the network has it when nothing more goes
        connection.resume_writing()
        assert connection.unread._timer is None and not wire.closed
        connection.pause_writing()
        await end(wire)

    on_a_connection(story)


def test_a_whole_request_is_answered_however_many_come_on_a_connection():
    with small_server() as port, dial(port) as line:
        for _ in range(50):
            line.sendall(GET)
            received = line.recv(1000)
            while HELLO not in received:
                received += line.recv(1000)
        line.sendall(b"POST /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nConnection: close\r\n\r\n12345")
        assert rest(line).endswith(b"5")


# ---------------------------------------------------------------- how many


def test_silent_connections_make_room_for_newcomers_and_those_who_look_after_a_full_server_are_answered(monkeypatch):
    monkeypatch.setattr(connection_limit, "allowed", lambda: 8)
    upgrade = (
        b"GET /line HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    with small_server() as port:
        silent = [dial(port) for _ in range(30)]
        for line in silent[:22]:
            assert not rest(line), "the oldest go first"
        with dial(port) as line:
            line.sendall(LAST)
            assert HELLO in rest(line)
        lines = [dial(port) for _ in range(8)]
        for line in lines:
            line.sendall(upgrade)
            assert line.recv(1000).startswith(b"HTTP/1.1 101")
        for line in silent[22:]:
            assert not rest(line)
        for received, status in ((GET, b"503"), (upgrade, b"503"), (GET.replace(b"/ ", b"/health ", 1), b"200")):
            with dial(port) as line:
                line.sendall(received)
                assert line.recv(1000).split()[1] == status
        beyond = [dial(port) for _ in range(BEYOND + 3)]
        for line in beyond[:3]:
            assert not rest(line)
        for line in (*silent, *lines, *beyond):
            line.close()


class FakeConnection:
    """A connection that remembers whether it had to go."""

    def __init__(self) -> None:
        self.gone = False

    def give_way(self) -> None:
        self.gone = True


MOVE = st.tuples(st.sampled_from(["take", "leave", "busy", "idle"]), st.integers(0, 30), st.integers(1, 4))


@given(st.lists(MOVE, max_size=150), st.integers(1, 12))
def test_no_more_are_open_than_allowed_and_nobody_goes_who_is_at_work(moves, most):
    here, every, busy = Places(most, trusted={"10.0.0.1"}), dict[int, tuple[FakeConnection, str]](), set[FakeConnection]()
    for move, number, network in moves:
        address = f"10.0.0.{network}"
        known = every.get(number)
        open_before = {connection for connection, _ in every.values() if connection in here.networks}
        if move == "take" and (known is None or known[0] not in here.networks):
            newcomer = FakeConnection()
            every[number] = newcomer, address
            full = not here.take(newcomer, address)
            assert full == (newcomer in here.beyond)
            here.wait(newcomer, True)
            gone = {other for other in open_before if other.gone}
            assert len(gone) <= 1 and not gone & (busy - set(here.beyond)), "of those at work none goes"
            if full and address != "10.0.0.1":
                counted = [other for other in here.networks if other not in here.beyond]
                theirs = [other for other, where in every.values() if other in counted and where == address]
                assert len(counted) >= most or len(theirs) >= here.each
        elif known and known[0] in here.networks:
            newcomer = known[0]
            if move == "leave":
                here.leave(newcomer)
                busy.discard(newcomer)
            elif move in ("busy", "idle"):
                here.wait(newcomer, move == "idle")
                (busy.add if move == "busy" and newcomer not in here.beyond else busy.discard)(newcomer)
        counted = Counter(network for connection, network in here.networks.items() if connection not in here.beyond)
        assert counted.total() <= most and len(here.beyond) <= BEYOND
        assert all(count <= here.each for network, count in counted.items() if network)
    for newcomer, _ in every.values():
        here.leave(newcomer)
    assert not here.networks and not here.beyond and not here._counts and not here._waiting


def test_an_address_that_holds_half_of_all_gives_way_to_itself_and_others_come_in():
    here = Places(100)
    greedy, other = [FakeConnection() for _ in range(500)], FakeConnection()
    for connection in greedy:
        here.take(connection, "203.0.113.7")  # and asks for something on each
    assert sum(connection in here.beyond for connection in greedy) == BEYOND
    assert all(here.take(FakeConnection(), f"203.0.114.{number}") for number in range(50)), "the other half is free for others"
    assert not here.take(other, "203.0.115.1")


def test_a_room_of_three_hundred_behind_one_address_has_room():
    """With two lines each; and for half of them a page loads at the moment, by six connections that are at work."""
    here = Places()
    everybody = [FakeConnection() for _ in range(300 * 2 + 150 * 6)]
    assert all(here.take(connection, "203.0.113.7") for connection in everybody) and not any(
        connection.gone for connection in everybody
    )


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", "testclient"),
    ],
)
def test_an_ipv6_address_counts_with_its_network(address, network):
    assert network_of(address) == network


DESCRIPTORS = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
from ui.serving import connection_limit
print(connection_limit.allowed(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="descriptors have no limit there")
def test_as_many_descriptors_as_are_needed_are_asked_for():
    def allowed(soft: int, hard: int) -> list[int]:
        script = [sys.executable, "-c", DESCRIPTORS.format(soft=soft, hard=hard)]
        return list(map(int, subprocess.run(script, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()))

    assert allowed(256, 256) == [256 - connection_limit.FILES - BEYOND, 256, 256]
    assert allowed(256, 1000) == [1000 - connection_limit.FILES - BEYOND, 1000, 1000]
    assert allowed(256, 9000)[0] == connection_limit.CONNECTIONS
