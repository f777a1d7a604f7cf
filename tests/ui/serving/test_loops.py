"""The event loop of a visit opens nothing until it is run, and then is like any other."""

from __future__ import annotations

import asyncio
import threading

import psutil

from tests.ui.serving.replaced import needs
from ui.serving.loops import Resting

pytestmark = needs("loops")


def run(loop: Resting, story) -> object:
    """The result of a story that a loop is run for, on a thread of its own."""
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(loop.run_until_complete(story)))
    thread.start()
    thread.join(20)
    return results[0]


def test_loops_that_rest_take_no_descriptors():
    before = psutil.Process().num_fds()
    loops = [Resting() for _ in range(100)]
    assert psutil.Process().num_fds() < before + 50
    for loop in loops:
        loop.call_soon_threadsafe(print)
        loop.close()
        assert loop.is_closed()


def test_a_loop_that_is_run_sleeps_waits_for_threads_and_for_the_network_and_closes_what_it_opened():
    async def answer(reader, writer) -> None:
        writer.write(await reader.readline())
        writer.close()

    async def story() -> bytes:
        await asyncio.sleep(0.001)
        words = await asyncio.to_thread(lambda: b"hello\n")
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            writer.write(words)
            echo = await reader.readline()
            writer.close()
        return echo

    before = psutil.Process().num_fds()
    loop = Resting()
    assert run(loop, story()) == b"hello\n" and run(loop, asyncio.sleep(0, "again")) == "again"
    loop.close()
    assert psutil.Process().num_fds() <= before + 3
