"""Several servers behind one address, without browsers: who stays where, and what happens when one of them is killed."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import time
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from benchmarks.protocol import Visitor
from benchmarks.reading import drawn
from tests.serving import Server, serve_by
from ui.processes.proxy import COOKIE

PROCESSES = 2
BELOW = "/lens"


@dataclass
class Several:
    """servers: the process that listens at each inner port."""

    url: str
    process: psutil.Process

    @property
    def servers(self) -> dict[int, psutil.Process]:
        outer = urlsplit(self.url).port
        return {
            line.laddr.port: process
            for process in self.process.children(recursive=True)
            for line in connections(process)
            if line.status == psutil.CONN_LISTEN and line.laddr.port != outer
        }


def connections(process: psutil.Process) -> list:
    try:
        return process.net_connections("tcp")
    except psutil.Error:
        return []


@pytest.fixture(scope="module")
def several() -> Iterator[Several]:
    command = [sys.executable, "-m", "ui.command"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STREAMLIT_SERVER_BASE_URL_PATH", BELOW.strip("/"))
        patch.setenv("HEADLIGHT_METRICS", "1")
        patch.setenv("HEADLIGHT_PAGES", "6")
        with serve_by(command, "--port={port}", f"--processes={PROCESSES}", "--no-open", patience=180, below=BELOW) as server:
            several = Several(server.url + BELOW, psutil.Process(server.process.pid))
            yield several
            left = several.process.children(recursive=True)
            folder = next(Path(process.environ()["TMPDIR"]) for process in several.servers.values())
            assert folder.is_dir() and len(left) > PROCESSES
            check_address_is_printed_once(server)
            server.process.terminate()
            server.process.wait(20)
    assert not psutil.wait_procs(left, 5)[1], "a process outlives the one that began it"
    assert not folder.exists()


def check_address_is_printed_once(server: Server) -> None:
    log_text = server.log.read_text()
    assert log_text.count("http://") == 1 and f"Headlight, {PROCESSES} processes: {server.url}{BELOW}\n" in log_text


def run(story) -> None:
    with ThreadPoolExecutor(1) as other:  # the thread of a worker that also drives browsers has an event loop already
        other.submit(asyncio.run, story()).result()


def get(url: str, method: str = "GET", **headers: str) -> tuple[int, str]:
    """The status of an answer, and the cookie of a server that a browser has after it, if one is set."""
    line = HTTPConnection(urlsplit(url).netloc, timeout=20)
    line.request(method, urlsplit(url).path or "/", headers=headers)
    answer = line.getresponse()
    answer.read()
    line.close()
    set_cookies = re.findall(rf"{COOKIE}=\w+", " ".join(answer.headers.get_all("Set-Cookie", ())))
    return answer.status, set_cookies[-1] if set_cookies else ""


def cookies(several: Several) -> list[str]:
    """One of each server."""
    cookie_values: dict[str, None] = {}
    while len(cookie_values) < PROCESSES:
        status, cookie = get(several.url + "/")
        assert status == 200 and cookie
        cookie_values[cookie] = None
        time.sleep(0.02)
    return list(cookie_values)


def open_pages(port: int) -> int:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=20) as answer:
        return round(float(re.search(r"^headlight_visitors (\S+)", answer.read().decode(), re.MULTILINE)[1]))


def visitor(several: Several, cookie: str, text: str = "", **headers: str) -> Visitor:
    guest = Visitor(several.url, drawn, {"text": text} if text else None)
    guest.headers |= {"Cookie": cookie, **headers}
    return guest


async def typed(guest: Visitor, text: str) -> None:
    """Type, and wait for the answer."""
    await guest.type(text)
    async with asyncio.timeout(30):
        while text not in guest.tally.took:
            await asyncio.sleep(0.02)


def test_a_browser_stays_with_its_server(several):
    first, second = cookies(several)
    for cookie in (first, second, first):
        assert get(several.url + "/", Cookie=cookie) == (200, "")
    assert len(several.servers) == PROCESSES

    async def story() -> None:
        async with AsyncExitStack() as stack:
            for cookie in (first, second, second):
                await (await stack.enter_async_context(visitor(several, cookie))).open()
            assert sorted(map(open_pages, several.servers)) == [1, 2]

    run(story)


def test_every_server_leads_to_the_one_that_has_a_room(several):
    """And it does not count whether the browser was with a server before."""
    first, second = cookies(several)
    led = []
    for code in ("AAAAAA", "HHHHHH", "AAAAAD"):
        there = {
            get(f"{several.url}/rooms/{code}/there", "POST", **headers) for headers in ({}, {"Cookie": first}, {"Cookie": second})
        }
        assert len(there) == 1
        led.append(there.pop())
    assert set(led) == {(204, first), (204, second)}


def test_bounds_count_visitors_and_not_the_proxy(several):
    """Six pages may be open from an address, and a proxy before ours (here: this machine) says whose address it is."""
    cookie = cookies(several)[0]

    async def story() -> None:
        async with AsyncExitStack() as stack:

            async def come(address: str) -> None:
                await stack.enter_async_context(visitor(several, cookie, **{"X-Forwarded-For": address}))

            for _ in range(6):
                await come("203.0.113.7")
            with pytest.raises(InvalidStatus):
                await come("203.0.113.7")
            await come("203.0.113.8")

    run(story)


def test_a_killed_server_disturbs_only_its_own_visitors_and_they_come_back_with_their_text(several):
    async def story() -> None:
        async with AsyncExitStack() as stack:
            first, second = cookies(several)
            near = [await stack.enter_async_context(visitor(several, first)) for _ in range(2)]
            far = [await stack.enter_async_context(visitor(several, second)) for _ in range(3)]
            for number, guest in enumerate((*near, *far)):
                await guest.open()
                await typed(guest, f"The cat {number}")
            port, killed = next((port, process) for port, process in several.servers.items() if open_pages(port) == len(near))
            os.kill(killed.pid, signal.SIGKILL)
            for number, guest in enumerate(near):  # as a browser does, with what stands in its address
                with pytest.raises(ConnectionClosed):
                    await asyncio.wait_for(guest.listening, 20)
                again = await stack.enter_async_context(visitor(several, first, f"The cat {number}"))
                again.tally.sent[f"The cat {number}"] = 0.0
                await again.open()
                assert f"The cat {number}" in again.tally.took and not again.tally.errors
                await typed(again, f"The cat {number} sat")
            for guest in far:
                await typed(guest, "The dog")
                assert not guest.listening.done() and not guest.tally.errors
            async with asyncio.timeout(60):
                while (
                    not (new := several.servers.get(port))
                    or new.pid == killed.pid
                    or get(f"http://127.0.0.1:{port}/ready")[0] != 200
                ):
                    await asyncio.sleep(0.2)

    run(story)
