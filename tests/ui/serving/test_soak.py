"""A small class goes once through all pages at once: every page answers, nothing is said in red, and nothing is left behind."""

from __future__ import annotations

import asyncio
import random
from concurrent.futures import ThreadPoolExecutor

from benchmarks.rounds import PARTS, Round, anything, held, tracebacks, visit
from tests.serving import Server, serve

VISITORS = 6


async def go_through(url: str, number: int, now: Round) -> None:
    """All pages, from one of this visitor's own on."""
    choose, pages = random.Random(number), list(PARTS)
    for page in pages[2 * number :] + pages[: 2 * number]:
        await visit(url, page, anything(choose, page), 0, now)


async def soak(server: Server) -> tuple[Round, dict[str, int]]:
    """What happened, and what the server still has open when all have gone."""
    now = Round()
    await asyncio.gather(*(go_through(server.url, number, now) for number in range(VISITORS)))
    async with asyncio.timeout(60):
        while (left := held(server))["sessions"]:
            await asyncio.sleep(0.5)
    return now, left


def test_six_visitors_go_through_all_pages_and_leave_nothing_behind():
    with serve() as server, ThreadPoolExecutor(1) as other:  # a thread that also drives browsers has an event loop already
        now, left = other.submit(asyncio.run, soak(server)).result()
        print(now.counts, now.errors, left)
        assert now.errors == []
        assert now.counts == {"opened": VISITORS * len(PARTS), "answered": VISITORS * len(PARTS)}
        assert tracebacks(server.log.read_text()) == 0, server.log.read_text()[-3000:]
