"""The cost of each attack to the other visitors: how long honest typists wait, and how much memory the server takes.

    python -m benchmarks.siege [--only bodies templates …] [--typists 3] [--seconds 12] [--public]

Each attack (`benchmarks/attacks`) meets a server of its own on this machine, and comes from a process of its own. A few
typists, each a key press every 300 ms, type for so long without it and then beside it. The table has their median and 95th
percentile in both cases, the ratio of the medians, and the most memory that the server and its processes held, in MB above
what they held before. What is promised: a ratio below 2, and less than 200 MB. `--public` has the server serve as on a public
host.

The attacker takes processor time of the same machine, as an attacker elsewhere would not. So the ratio is too high rather than
too low.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import os
import pkgutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

import psutil

from benchmarks import attacks
from benchmarks.crowd import TYPING, Counts, crowd, used
from benchmarks.reading import drawn
from benchmarks.room import SECRET
from tests.serving import ROOT, serve

BETWEEN = 0.2  # seconds between two looks at the memory
RATIO, MEMORY = 2.0, 200.0  # that are promised

Attack = Callable[[str, float], str]


def modules() -> list[ModuleType]:
    """The modules of attacks."""
    return [importlib.import_module(f"{attacks.__name__}.{module.name}") for module in pkgutil.iter_modules(attacks.__path__)]


def all_attacks() -> dict[str, Attack]:
    """Every attack by its name."""
    return {name: attack for module in modules() for name, attack in module.ATTACKS.items()}


def prepare(name: str, url: str) -> None:
    """Have a server do what it does once for any visitor, and what is therefore no part of an attack."""
    for module in modules():
        if name in module.ATTACKS and hasattr(module, "prepare"):
            module.prepare(url)


@contextmanager
def largest_memory(process: psutil.Process) -> Iterator[list[float]]:
    """A list that holds, at the end, the most bytes that a process and those it has started held."""
    largest, stop = [0.0], threading.Event()

    def look() -> None:
        while not stop.wait(BETWEEN):
            largest[0] = max(largest[0], used([process])[1])

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield largest
    finally:
        stop.set()
        thread.join()


def besiege(name: str, typists: int, seconds: float) -> tuple[Counts, Counts, float, str]:
    """Typists without and beside an attack, the bytes that the server grew by, and what it answered."""
    with serve(ROOT / "app.py") as server:
        process = psutil.Process(server.process.pid)
        asyncio.run(crowd(server.url, [process], drawn, TYPING, typists, 3))  # the model is loaded
        prepare(name, server.url)
        before = asyncio.run(crowd(server.url, [process], drawn, TYPING, typists, seconds))
        begun_with = used([process])[1]
        command = [sys.executable, "-m", "benchmarks.siege", "--attack", name, "--url", server.url, "--seconds", str(seconds)]
        with largest_memory(process) as largest:
            attacker = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
            try:
                beside = asyncio.run(crowd(server.url, [process], drawn, TYPING, typists, seconds))
                answer = attacker.communicate(timeout=4 * seconds + 30)[0].strip()
            except subprocess.TimeoutExpired:
                answer = "the attack did not end"
            finally:
                attacker.kill()
        return before, beside, largest[0] - begun_with, answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="names of attacks")
    parser.add_argument("--typists", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--public", action="store_true")
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    parser.add_argument("--url", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.attack:
        print(all_attacks()[arguments.attack](arguments.url, arguments.seconds))
        return
    os.environ["HEADLIGHT_ROOM_SECRET"] = SECRET
    if arguments.public:
        os.environ["HEADLIGHT_PUBLIC"] = "1"
    print(f"{'':28}{'median ms':>14}{'p95 ms':>14}{'ratio':>7}{'lost':>6}{'memory MB':>11}  kept  what the server answered")
    for name in arguments.only or all_attacks():
        before, beside, grown, answer = besiege(name, arguments.typists, arguments.seconds)
        ratio, megabytes = beside["median"] / before["median"], grown / 1e6
        verdict = "yes" if ratio < RATIO and megabytes < MEMORY and beside["last"] == arguments.typists else "NO"
        medians = f"{before['median']:.0f} → {beside['median']:.0f}"
        tails = f"{before['p95']:.0f} → {beside['p95']:.0f}"
        lost = beside["texts"] - beside["answered"]
        print(f"{name:28}{medians:>14}{tails:>14}{ratio:>7.2f}{lost:>6.0f}{megabytes:>11.0f}  {verdict:4}  {answer}", flush=True)


if __name__ == "__main__":
    main()
