"""Where the processor's time of a key press goes while a class types on page Type, and how far it is from the least it could be.

    python -m benchmarks.where [--visitors 20] [--seconds 20]

The crowd of `benchmarks.crowd` types at one process, at which py-spy looks a hundred times a second (it must be allowed to: as
root, or with kernel.yama.ptrace_scope=0; `pip install -r benchmarks/requirements-peers.txt`). What a thread does that is not idle
counts for the nearest part of the program that its stack names, and the milliseconds of an answer are shared out by that. Beside
them stands the floor: what a bare app that echoes the text takes for an answer, and one reading of the same texts by the writer.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import psutil

import models
from benchmarks.crowd import TYPING, crowd, texts
from benchmarks.reading import APPS, drawn, echoed
from tests.serving import ROOT, Server, serve

PARTS = {
    f"{ROOT}/models/": "reading: models and torch",
    f"{ROOT}/analysis/": "analysis",
    f"{ROOT}/viz/": "what is drawn: viz",
    f"{ROOT}/pages/": "page, frame and what is kept: pages, ui",
    f"{ROOT}/ui/": "page, frame and what is kept: pages, ui",
    "/google/protobuf/": "Streamlit",
    "/streamlit/": "Streamlit",
    "/uvicorn/": "the server: HTTP and WebSocket",
    "/starlette/": "the server: HTTP and WebSocket",
    "/websockets/": "the server: HTTP and WebSocket",
    "/wsproto/": "the server: HTTP and WebSocket",
}


def part(stack: str) -> str:
    """The part of the program that a stack of py-spy's names nearest to where it stands."""
    for frame in reversed(stack.split(";")):
        for path, name in PARTS.items():
            if path in frame:
                return name
    return "all else: Python’s own threads and event loop"


def shares(recorded: str) -> dict[str, float]:
    """Of what py-spy wrote down, each part's share."""
    counts: Counter[str] = Counter()
    for line in recorded.splitlines():
        stack, _, count = line.rpartition(" ")
        counts[part(stack)] += int(count)
    return {name: count / counts.total() for name, count in counts.most_common()}


def watched(server: Server, visitors: int, seconds: float) -> tuple[dict[str, float], dict[str, float]]:
    """What a crowd came to, and where its time went."""
    processes = (psutil.Process(server.process.pid),)
    asyncio.run(crowd(server.url, processes, drawn, TYPING, visitors, 3))
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "stacks"
        command = ["record", "--pid", str(server.process.pid), "--format", "raw", "--full-filenames", "--nonblocking"]
        program = Path(sys.executable).with_name("py-spy")
        spy = subprocess.Popen([program, *command, "--duration", str(round(seconds)), "--output", out], stdout=subprocess.DEVNULL)
        counts = asyncio.run(crowd(server.url, processes, drawn, TYPING, visitors, seconds))
        if spy.wait(60):
            sys.exit("py-spy could not look at the server.")
        return counts, shares(out.read_text("utf-8"))


def reading() -> float:
    """Milliseconds of the processor for one reading of a text that grows by a letter."""
    import torch

    torch.set_num_threads(1)
    model, typed_texts = models.load("writer"), texts(1, 60)
    for text in typed_texts[:10]:
        model.trace(text)
    began = time.process_time()
    for text in typed_texts[10:]:
        model.trace(text).logits_at(-1)
    return 1000 * (time.process_time() - began) / 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=20)
    arguments = parser.parse_args()
    with serve(APPS / "echo.py") as server:
        processes = (psutil.Process(server.process.pid),)
        bare = asyncio.run(crowd(server.url, processes, echoed, {}, arguments.visitors, arguments.seconds))
    with serve(ROOT / "app.py") as server:
        counts, where = watched(server, arguments.visitors, arguments.seconds)
    read = reading()
    summary = f"{counts['answered']} of {counts['texts']} texts answered, {counts['cpu']:.1f} ms of the processor each"
    print(f"{arguments.visitors} visitors: {summary}")
    for name, share in where.items():
        print(f"  {name:45}{share:>6.0%}{share * counts['cpu']:>7.1f} ms")
    least = bare["cpu"] + read
    print(f"The floor, {bare['cpu']:.1f} ms of a bare app and {read:.1f} ms of reading:", end=" ")
    print(f"{counts['cpu'] / least:.1f} times as much")


if __name__ == "__main__":
    main()
