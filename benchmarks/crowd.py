"""A class types at once: 1 to 60 visitors, each a key press every 300 ms, Headlight beside a bare app that echoes the text.

    python -m benchmarks.crowd [--visitors 1 10 20 40 60] [--seconds 12] [--processes 1 2 4] [--replicas 1 2] [--only Headlight]

The visitors speak Streamlit's protocol from this process, so that what is measured is the server, on the cores that this machine
has, which the visitors share: one process; so many behind a proxy (`headlight --processes`); or one for which replicas behind Ray
Serve read on the same machine (`--replicas`). The processor time and memory of all of them count, the proxy’s and Ray’s too.
Memory that processes share counts once where the system tells it (Linux: PSS). A text is lost when no answer to it came, because
a later one overtook it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import statistics
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path

import psutil

from benchmarks.protocol import Visitor
from tests.serving import ROOT, Server, free_port, serve, serve_by
from ui.processes.proxy import COOKIE

APPS = Path(__file__).parent / "apps"
EVERY = 0.3  # seconds between two key presses of a visitor
TYPING = {"level": "intermediate"}
STORY = "The farmer gave the hungry dog a bone, and the dog ran into the garden with it, where the cat sat in the sun and slept. "


def echoed(element) -> str | None:
    """The text that the bare app has answered."""
    if element.WhichOneof("type") == "text" and element.text.body.startswith("["):
        return element.text.body[1:-1]
    return None


def drawn(element) -> str | None:
    """The text whose tokens stand on Headlight's board."""
    if element.WhichOneof("type") != "bidi_component" or not element.bidi_component.bytes:
        return None
    header, blocks = unpacked(element.bidi_component.bytes)
    for part in (part for card in header.get("cards", ()) for part in card["parts"]):
        if part["kind"] == "token_chips":
            chips, _ = unpacked(blocks[part["start"] : part["end"]])
            tokens = zip(chips["tokens"], chips["kinds"], strict=True)
            return "".join(piece.replace("·", " ") for pieces, special in tokens if not special for piece in pieces)
    return None


def unpacked(data: bytes) -> tuple[dict, bytes]:
    """The header of `viz.view.pack` and the raw bytes behind it."""
    (length,) = struct.unpack_from("<I", data)
    return json.loads(data[4 : 4 + length]), data[4 + length + -(4 + length) % 8 :]


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


@contextmanager
def serve_replicas(count: int) -> Iterator[tuple[Server, psutil.Process]]:
    """The app by one process for which so many replicas read, on a Ray of their own; and the process that has begun this."""
    port = free_port()
    command = [sys.executable, "-m", "models.remote", "--port", str(port), "--with-parent"]
    own = {**os.environ, "HEADLIGHT_REPLICAS": str(count)}
    ray = subprocess.Popen(command, cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True)
    try:
        assert ray.stdout
        if "ray://" not in ray.stdout.readline():
            sys.exit("Ray has not started: pip install -r requirements-ray.txt")
        os.environ["HEADLIGHT_BACKEND"] = f"ray://127.0.0.1:{port}"
        with serve(ROOT / "app.py") as server:
            yield server, psutil.Process(ray.pid)
    finally:
        os.environ.pop("HEADLIGHT_BACKEND", None)
        ray.terminate()
        ray.wait(60)


def used(processes: Sequence[psutil.Process]) -> tuple[float, float]:
    """Seconds of processor, and bytes of memory, of processes and of all that they have started."""
    seconds, memory = 0.0, 0.0
    for one in (each for process in processes for each in (process, *process.children(recursive=True))):
        with suppress(psutil.NoSuchProcess):  # a worker of Ray's may have ended
            held = one.memory_full_info()
            seconds, memory = seconds + sum(one.cpu_times()[:2]), memory + getattr(held, "pss", held.rss)
    return seconds, memory


async def crowd(
    url: str, processes: Sequence[psutil.Process], answered, query: dict[str, str], size: int, seconds: float
) -> dict[str, float]:
    """So many visitors type for so long: what it came to."""
    count = round(seconds / EVERY)
    async with AsyncExitStack() as stack:
        visitors = [await stack.enter_async_context(Visitor(url, answered, query)) for _ in range(size)]
        for visitor in visitors:  # one after another: how a room fills is not asked here
            await visitor.open()
        await asyncio.sleep(1)
        before = [(visitor.tally.bytes, visitor.tally.messages) for visitor in visitors]
        busy, began = used(processes)[0], time.perf_counter()
        await asyncio.gather(*(typing(visitor, number, count, EVERY) for number, visitor in enumerate(visitors)))
        took, busy = time.perf_counter() - began, used(processes)[0] - busy
        tallies = [visitor.tally for visitor in visitors]
    waits = sorted(wait for tally in tallies for wait in tally.took.values())
    answers = max(1, len(waits))
    return {
        "texts": size * count,
        "answered": len(waits),
        "a second": len(waits) / min(took, count * EVERY + EVERY),
        "median": 1000 * statistics.median(waits) if waits else float("nan"),
        "p95": 1000 * waits[int(0.95 * (len(waits) - 1))] if waits else float("nan"),
        "last": sum(list(tally.sent)[-1] in tally.took for tally in tallies),
        "cpu": 1000 * busy / answers,
        "kB": sum(tally.bytes - was for tally, (was, _) in zip(tallies, before, strict=True)) / answers / 1000,
        "messages": sum(tally.messages - was for tally, (_, was) in zip(tallies, before, strict=True)) / answers,
        "memory": used(processes)[1] / 1e6,
        "errors": sum(len(tally.errors) for tally in tallies),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, nargs="+", default=[1, 10, 20, 40, 60])
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--only", choices=["Headlight", "bare echo"])
    parser.add_argument("--processes", type=int, nargs="+", default=[1], help="that serve Headlight, one number after another")
    parser.add_argument(
        "--replicas", type=int, nargs="+", default=[], help="that read for one process, R1, R2 in the table; needs Ray"
    )
    arguments = parser.parse_args()
    head = f"{'':14}{'visitors':>9}{'texts':>7}{'answered':>9}{'a second':>9}{'median ms':>10}{'p95 ms':>8}{'last text':>10}"
    print(head + f"{'CPU ms':>8}{'kB':>7}{'messages':>9}{'memory MB':>10}{'errors':>7}")
    if arguments.only in (None, "bare echo"):
        with serve(APPS / "echo.py") as server:
            measure("bare echo", server, echoed, {}, arguments)
    for processes in arguments.processes if arguments.only in (None, "Headlight") else ():
        with serve_headlight(processes) as server:
            name = "Headlight" + f", {processes}" * (processes > 1)
            measure(name, server, drawn, TYPING, arguments, processes)
    for count in arguments.replicas if arguments.only in (None, "Headlight") else ():
        with serve_replicas(count) as (server, ray):
            measure(f"Headlight, R{count}", server, drawn, TYPING, arguments, beside=(ray,))


def measure(
    name: str,
    server: Server,
    answered,
    query: dict[str, str],
    given: argparse.Namespace,
    first: int = 1,
    beside: tuple[psutil.Process, ...] = (),
) -> None:
    """A row for each size of the crowd. first: visitors who warm it up; beside: processes that count with the server."""
    processes = psutil.Process(server.process.pid), *beside
    asyncio.run(crowd(server.url, processes, answered, query, first, 3))  # the model is loaded, kernels are set up
    for size in given.visitors:
        got = asyncio.run(crowd(server.url, processes, answered, query, size, given.seconds))
        row = f"{name:14}{size:>9}{got['texts']:>7}{got['answered']:>9}{got['a second']:>9.0f}{got['median']:>10.0f}"
        row += f"{got['p95']:>8.0f}{got['last']:>6}/{size:<3}{got['cpu']:>8.1f}{got['kB']:>7.1f}{got['messages']:>9.1f}"
        print(row + f"{got['memory']:>10.0f}{got['errors']:>7}", flush=True)


if __name__ == "__main__":
    main()
