"""A short soak: four visitors go through all pages, and when they have gone nothing of them is left. The long one, which also
measures how memory grows, is `python -m benchmarks.rounds`."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from benchmarks.rounds import PARTS, Round, anything, held, tracebacks, visit
from tests.serving import ROOT, Server, serve_by

VISITORS = 4
GONE = 60  # seconds in which all that was somebody's must have gone

pytestmark = pytest.mark.late


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    command = [sys.executable, str(Path(__file__).parent / "brief.py"), "run", str(ROOT / "app.py")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADLIGHT_METRICS", "1")
        with serve_by(command, "--server.port={port}", "--server.headless=true") as running:
            yield running


async def go_through(url: str, number: int, now: Round) -> None:
    """All pages, from one of this visitor's own on."""
    choose, pages = random.Random(number), list(PARTS)
    for page in pages[3 * number :] + pages[: 3 * number]:
        await visit(url, page, anything(choose, page), 0, now)


async def soak(server: Server) -> tuple[Round, dict, dict, int]:
    """What happened, what the server held before and after, and how many threads it had at most."""
    now, most = Round(), 0
    await visit(server.url, "type", {}, 0, now)
    await asyncio.sleep(2)
    before = await asyncio.to_thread(held, server)
    going = [asyncio.create_task(go_through(server.url, number, now)) for number in range(VISITORS)]
    while not all(task.done() for task in going):
        most = max(most, psutil.Process(server.process.pid).num_threads())
        await asyncio.wait(going, timeout=0.2)
    await asyncio.gather(*going)
    for _ in range(GONE):
        await asyncio.sleep(1)
        await visit(server.url, "type", {}, 0, now)  # a coming and a going, at which Streamlit lets go of others
        after = await asyncio.to_thread(held, server)
        if after["sessions"] <= before["sessions"] and after["files"] <= before["files"]:
            break
    return now, before, after, most


def test_four_visitors_go_through_all_pages_and_leave_nothing_behind(server):
    """It takes half a minute: each opens all pages, and the server lets go of visitors only after a while."""
    with ThreadPoolExecutor(1) as other:
        now, before, after, most = other.submit(asyncio.run, soak(server)).result()
    print(f"{now.counts['opened']} pages were opened; before: {before}; when all have gone: {after}; {most} threads at most")
    assert not now.errors
    assert now.counts["answered"] == now.counts["opened"] > VISITORS * len(PARTS)
    assert tracebacks(server.log.read_text("utf-8")) == 0, server.log.read_text("utf-8")[-3000:]
    assert after["sessions"] <= before["sessions"] and after["files"] <= before["files"], "a session or a file is left"
    assert after["threads"] <= most, "threads are left"  # one of each visit would be more than there were at a time
