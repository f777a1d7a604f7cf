"""A class types at once: 1 to 60 visitors, each a key press every 300 ms, Headlight beside a bare app that echoes the text.

    python -m benchmarks.crowd [--visitors 1 10 20 40 60] [--seconds 12] [--processes 1 2 4] [--replicas 1 2] [--nodes 1]
                               [--followers 0] [--only Headlight]

The visitors speak Streamlit's protocol from this process, so that what is measured is the server, on the cores that this machine
has, which the visitors share: one process; so many behind a proxy (`headlight --processes`); or one for which replicas behind Ray
Serve read on the same machine (`--replicas`), in one Ray or on so many nodes of one (`--nodes`). The processor time and memory of
all of them count, the proxy’s and Ray’s too. Memory that processes share counts once where the system tells it (Linux: PSS). A
text is lost when no answer to it came, because a later one overtook it. With `--followers` there is a row more for each server: a
room in which the teacher alone presses keys and so many follow; each of them has an answer to each text, or has lost it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import sys
import time
import urllib.request
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress

import psutil

from benchmarks.protocol import Visitor
from benchmarks.reading import APPS, STORY, drawn, echoed
from benchmarks.replicas import serve_replicas
from benchmarks.room import REST, SECRET, Lesson, Pupil, Teacher, fill
from tests.serving import ROOT, Server, serve, serve_by
from ui.processes.proxy import COOKIE

EVERY = 0.3  # seconds between two key presses of a visitor
TYPING = {"level": "intermediate"}

Counts = dict[str, float]
"""What a crowd came to: a row of the table."""


def texts(visitor: int, count: int) -> list[str]:
    """What a visitor has in the box after each key press: a sentence of their own that grows by a letter."""
    words = STORY.split()
    at = 3 * visitor % len(words)
    own = f"{visitor} " + " ".join(words[at:] + words[:at])
    return [own[: 12 + i] for i in range(count)]


async def typing(visitor: Visitor, number: int, count: int, every: float, patience: float = 5) -> None:
    """A visitor presses so many keys; returns when the last text is answered, or after so many seconds more."""
    await asyncio.sleep(every * number / 7 % every)  # nobody presses at the same moment as all others
    start = time.perf_counter()
    for i, text in enumerate(texts(number, count)):
        await asyncio.sleep(max(0.0, start + every * i - time.perf_counter()))
        await visitor.type(text)
    for _ in range(round(patience / 0.1)):
        if text in visitor.tally.took:
            break
        await asyncio.sleep(0.1)


@contextmanager
def serve_headlight(processes: int) -> Iterator[Server]:
    """The app by so many processes, all of them ready."""
    if processes == 1:
        with serve(ROOT / "app.py") as server:
            yield server
        return
    command = [sys.executable, "-m", "ui.command"]
    with serve_by(command, "--port={port}", f"--processes={processes}", "--no-open", patience=300) as server:
        met = set[str]()
        while len(met) < processes:
            with urllib.request.urlopen(server.url, timeout=60) as answer:
                met |= set(re.findall(rf"{COOKIE}=(\w+)", answer.headers.get("Set-Cookie", "")))
            time.sleep(0.05)
        yield server


def used(processes: Sequence[psutil.Process]) -> tuple[float, float]:
    """Seconds of processor, and bytes of memory, of processes and of all that they have started."""
    seconds, memory = 0.0, 0.0
    for process in (each for parent in processes for each in (parent, *parent.children(recursive=True))):
        with suppress(psutil.NoSuchProcess):  # a worker of Ray's may have ended
            held = process.memory_full_info()
            seconds, memory = seconds + sum(process.cpu_times()[:2]), memory + getattr(held, "pss", held.rss)
    return seconds, memory


async def crowd(url: str, server: Sequence[psutil.Process], answered, query: dict[str, str], size: int, seconds: float) -> Counts:
    """So many visitors type for so long: what it came to."""
    count = round(seconds / EVERY)
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(Visitor(url, answered, query)) for _ in range(size)]
        for visitor in visitors:  # one after another: how a room fills is not asked here
            await visitor.open()
        await asyncio.sleep(1)
        everybody = (typing(visitor, number, count, EVERY) for number, visitor in enumerate(visitors))
        return await counted(visitors, server, count, asyncio.gather(*everybody))


async def room(url: str, server: Sequence[psutil.Process], answered, size: int, seconds: float) -> Counts:
    """One types for so long, and so many follow in a room: what it came to for them."""
    count, outcome = round(seconds / EVERY), Lesson()
    async with AsyncExitStack() as stack:
        teacher = await stack.enter_async_context(Teacher(url))
        await teacher.join()
        class_ = await fill(url, size, server[0], stack, outcome)
        if outcome.wrong:
            raise SystemExit(outcome.wrong[0])
        for pupil in class_:
            pupil.answered = answered
        await asyncio.sleep(REST)
        return await counted(class_, server, count, leading(teacher, class_, count))


async def leading(teacher: Teacher, class_: Sequence[Pupil], count: int, patience: float = 5) -> None:
    """The teacher presses so many keys, which each of the class waits for; as `typing`."""
    start = time.perf_counter()
    for i, text in enumerate(texts(0, count)):
        await asyncio.sleep(max(0.0, start + EVERY * i - time.perf_counter()))
        for pupil in class_:
            pupil.tally.sent[text] = time.perf_counter()
        await teacher.write(text)
    for _ in range(round(patience / 0.1)):
        if all(text in pupil.tally.took for pupil in class_):
            break
        await asyncio.sleep(0.1)


async def counted(visitors: Sequence[Visitor], server: Sequence[psutil.Process], count: int, keys: Awaitable[object]) -> Counts:
    """What it came to that visitors waited for so many texts each while `keys` were pressed."""
    before = [(visitor.tally.bytes, visitor.tally.messages) for visitor in visitors]
    busy, began = used(server)[0], time.perf_counter()
    await keys
    took, busy = time.perf_counter() - began, used(server)[0] - busy
    tallies = [visitor.tally for visitor in visitors]
    waits = sorted(wait for tally in tallies for wait in tally.took.values())
    answers = max(1, len(waits))
    return {
        "texts": len(visitors) * count,
        "answered": len(waits),
        "a second": len(waits) / min(took, count * EVERY + EVERY),
        "median": 1000 * statistics.median(waits) if waits else float("nan"),
        "p95": 1000 * waits[int(0.95 * (len(waits) - 1))] if waits else float("nan"),
        "last": sum(list(tally.sent)[-1] in tally.took for tally in tallies),
        "cpu": 1000 * busy / answers,
        "kB": sum(tally.bytes - was for tally, (was, _) in zip(tallies, before, strict=True)) / answers / 1000,
        "messages": sum(tally.messages - was for tally, (_, was) in zip(tallies, before, strict=True)) / answers,
        "memory": used(server)[1] / 1e6,
        "errors": sum(len(tally.errors) for tally in tallies),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, nargs="+", default=[1, 10, 20, 40, 60])
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--only", choices=["Headlight", "bare echo"])
    parser.add_argument("--processes", type=int, nargs="+", default=[1], help="that serve Headlight, one number after another")
    parser.add_argument("--replicas", type=int, nargs="+", default=[], help="that read for one process, R1, R2; needs Ray")
    parser.add_argument("--nodes", type=int, default=1, help="of Ray, among which the replicas are shared out")
    parser.add_argument("--followers", type=int, default=0, help="of a room in which one types")
    arguments = parser.parse_args()
    os.environ["HEADLIGHT_ROOM_SECRET"] = SECRET
    head = f"{'':14}{'visitors':>9}{'texts':>7}{'answered':>9}{'a second':>9}{'median ms':>10}{'p95 ms':>8}{'last text':>10}"
    print(head + f"{'CPU ms':>8}{'kB':>7}{'messages':>9}{'memory MB':>10}{'errors':>7}")
    if arguments.only in (None, "bare echo"):
        with serve(APPS / "echo.py") as server:
            measure("bare echo", server, echoed, {}, arguments)
        if arguments.followers:
            with serve(APPS / "room.py") as server:
                follow("bare echo", server, echoed, arguments)
    for processes in arguments.processes if arguments.only in (None, "Headlight") else ():
        with serve_headlight(processes) as server:
            name = "Headlight" + f", {processes}" * (processes > 1)
            measure(name, server, drawn, TYPING, arguments, processes)
            if arguments.followers:
                follow(name, server, drawn, arguments)
    for count in arguments.replicas if arguments.only in (None, "Headlight") else ():
        with serve_replicas(count, arguments.nodes) as (server, ray):
            measure(f"Headlight, R{count}", server, drawn, TYPING, arguments, beside=ray)
            if arguments.followers:
                follow(f"Headlight, R{count}", server, drawn, arguments, ray)


def measure(
    name: str,
    server: Server,
    answered,
    query: dict[str, str],
    arguments: argparse.Namespace,
    first: int = 1,
    beside: Sequence[psutil.Process] = (),
) -> None:
    """A row for each size of the crowd. first: visitors who warm it up; beside: processes that count with the server."""
    processes = psutil.Process(server.process.pid), *beside
    asyncio.run(crowd(server.url, processes, answered, query, first, 3))  # the model is loaded, kernels are set up
    for size in arguments.visitors:
        show(name, str(size), size, asyncio.run(crowd(server.url, processes, answered, query, size, arguments.seconds)))


def follow(name: str, server: Server, answered, arguments: argparse.Namespace, beside: Sequence[psutil.Process] = ()) -> None:
    """A row for a class that follows."""
    processes = psutil.Process(server.process.pid), *beside
    counts = asyncio.run(room(server.url, processes, answered, arguments.followers, arguments.seconds))
    show(name, f"room {arguments.followers}", arguments.followers, counts)


def show(name: str, who: str, size: int, counts: Counts) -> None:
    row = f"{name:14}{who:>9}{counts['texts']:>7}{counts['answered']:>9}{counts['a second']:>9.0f}{counts['median']:>10.0f}"
    row += f"{counts['p95']:>8.0f}{counts['last']:>6}/{size:<3}{counts['cpu']:>8.1f}{counts['kB']:>7.1f}"
    print(row + f"{counts['messages']:>9.1f}{counts['memory']:>10.0f}{counts['errors']:>7}", flush=True)


if __name__ == "__main__":
    main()
