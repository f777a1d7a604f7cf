"""A class goes round: so many visitors through all pages at all levels, typing on each, for so many minutes.

    python -m benchmarks.rounds [--visitors 20] [--minutes 10] [--pages inside,generate] [--pause 1]

Each opens a page at random, at one of its parts, with a text, model and level of their own, types eight letters on it, a key
press every second, and goes on to the next page; on page Lessons, a step of a lesson. Every minute the table says how many pages
were opened and how many of them answered the last text that was typed there, what a page said in red, how many tracebacks the
server's log holds, and the least and the most memory that the server had in that minute. In the end it says how memory grew in
the second half, and how certain that is, and which threads, files and sessions are left when all have gone. Who goes may come
back for two minutes, so that takes as long. It ends with an error where anything was not as it should be.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import sys
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import psutil
from scipy import stats

from benchmarks.protocol import Visitor
from tests.serving import ROOT, Server, serve
from ui import state

KEYS = {key.name: key for key in state.linked_keys()}
PARTS: dict[str, state.Key | None] = {
    "overview": None,
    "type": None,
    "attention": KEYS["view"],
    "layers": KEYS["part"],
    "flow": KEYS["show"],
    "space": KEYS["space"],
    "inside": None,
    "generate": KEYS["generate-method"],
    "explain": KEYS["explain"],
    "change": KEYS["experiment"],
    "heads": KEYS["heads-part"],
    "build": None,
    "train": None,
    "adapt": None,
    "lessons": None,
}
LESSONS = tuple(sorted(file.stem for file in (ROOT / "lessons").glob("*.md")))
TEXTS = {
    "writer": {"text": "The farmer gave the hungry dog a bone"},
    "filler": {"text": "The [MASK] sat on the mat"},
    "translator": {"text": "The cat sleeps.", "target": "Le chat"},
}
LETTERS = " and then"
PATIENCE = 120  # seconds
BLOCK, BLOCKS = 10, 6  # seconds of which the least memory is one point of the line through them, and how many make a minute
CERTAIN = 10  # MB a minute: an interval that reaches further to both sides says nothing
STORED = 125  # seconds after which Streamlit lets go of who has gone, at the next coming and going


@dataclass
class Round:
    """What happened up to now. least, most: MB in each block."""

    counts: Counter = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    least: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)


def tracebacks(log: str) -> int:
    """How many a log holds; Streamlit writes some in colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", log).count("Traceback (most recent call last)")


def growth(least: list[float]) -> tuple[float, float]:
    """How much memory grows, MB a minute, and how far on both sides of it its 95 % interval reaches: the line through the least
    of each block of the second half. What is at work for a moment does not count in it."""
    half = np.array(least[len(least) // 2 :])
    if len(half) < 3:
        return float("nan"), float("nan")
    minutes = np.arange(len(half)) / BLOCKS
    minutes -= minutes.mean()
    spread = float((minutes**2).sum())
    slope = float(minutes @ half) / spread
    off = half - half.mean() - slope * minutes
    return slope, float(stats.t.ppf(0.975, len(half) - 2) * np.sqrt((off**2).sum() / (len(half) - 2) / spread))


def held(server: Server) -> dict[str, int]:
    """What the server has open."""
    process = psutil.Process(server.process.pid)
    with urllib.request.urlopen(f"{server.url}/_stcore/metrics", timeout=PATIENCE) as answer:
        match = re.search(r"^active_sessions (\d+)", answer.read().decode(), re.M)
    return {"threads": process.num_threads(), "files": process.num_fds(), "sessions": int(match[1]) if match else -1}


def nothing(element) -> None:
    """No element of a page is looked into: that its run ends is the answer."""


def anything(choose: random.Random, page: str) -> dict[str, str]:
    """A link to a page."""
    if page == "lessons":
        return choose.choice([{}, {"lesson": choose.choice(LESSONS), "step": choose.choice("123")}])
    model, key = choose.choice(list(TEXTS)), PARTS[page]
    return {"level": choose.choice(state.LEVELS), "model": model, **TEXTS[model]} | (
        {key.name: choose.choice(key.values)} if key else {}
    )


async def visit(url: str, page: str, query: dict[str, str], pause: float, progress: Round) -> None:
    """One page, and what is typed there."""
    async with Visitor(url, nothing, query, page=page) as visitor:
        progress.counts["opened"] += 1
        about = f"{page} {' '.join(value for name, value in query.items() if name not in ('text', 'target'))}"
        try:
            await visitor.send()
            async with asyncio.timeout(PATIENCE):
                await visitor.finished.wait()
                text = query.get("text", TEXTS["writer"]["text"])
                for letter in LETTERS if visitor.box else "":
                    await asyncio.sleep(pause)
                    text += letter
                    visitor.finished.clear()
                    await visitor.type(text)
                await visitor.finished.wait()
            progress.counts["answered"] += 1
        except TimeoutError:
            progress.errors.append(f"{about}: no answer within {PATIENCE} s")
        progress.errors.extend(f"{about}: {error}" for error in visitor.tally.errors)


async def go_round(url: str, number: int, until: float, pages: list[str], pause: float, progress: Round) -> None:
    """One visitor's round."""
    choose = random.Random(number)
    while time.monotonic() < until:
        page = choose.choice(pages)
        await visit(url, page, anything(choose, page), pause, progress)


async def watch(process: psutil.Process, progress: Round) -> None:
    """Note how much memory there is, all the while."""
    while True:
        seen = []
        for _ in range(4 * BLOCK):
            seen.append(process.memory_info().rss / 1e6)
            await asyncio.sleep(0.25)
        progress.least.append(min(seen))
        progress.most.append(max(seen))


async def rounds(server: Server, visitors: int, minutes: float, pages: list[str], pause: float) -> list[str]:
    """The whole round. What was not as it should be, as sentences."""
    progress, printed, read_log = Round(), 0, server.log.read_text
    await visit(server.url, "type", {}, 0, progress)
    left = {"at the beginning": held(server)}
    began = time.monotonic()
    until = began + 60 * minutes
    watching = asyncio.create_task(watch(psutil.Process(server.process.pid), progress))
    tasks = [asyncio.create_task(go_round(server.url, number, until, pages, pause, progress)) for number in range(visitors)]
    print(f"{'minute':>6}{'opened':>8}{'answered':>9}{'in red':>7}{'tracebacks':>11}{'least MB':>9}{'most MB':>8}")
    while not all(task.done() for task in tasks):
        await asyncio.wait(tasks, timeout=60)
        if (minute := (time.monotonic() - began) / 60) >= minutes / 2 and "half-way" not in left:
            left["half-way"] = await asyncio.to_thread(held, server)
        numbers = (progress.counts["opened"], progress.counts["answered"], len(progress.errors), tracebacks(read_log()))
        memory = min(progress.least[-BLOCKS:], default=0), max(progress.most[-BLOCKS:], default=0)
        print("{:>6.1f}{:>8}{:>9}{:>7}{:>11}{:>9.0f}{:>8.0f}".format(minute, *numbers, *memory), flush=True)
        for error in progress.errors[printed:]:
            print("   ", error, flush=True)
        printed = len(progress.errors)
    watching.cancel()
    await asyncio.gather(*tasks)
    await asyncio.sleep(STORED)
    await visit(server.url, "type", {}, 0, progress)
    await asyncio.sleep(2)
    left["when all have gone"] = held(server)
    for when, what in left.items():
        print(f"{when}: {', '.join(f'{number} {name}' for name, number in what.items())}")
    return report(progress, tracebacks(read_log()), left)


def report(progress: Round, traced: int, left: dict[str, dict[str, int]]) -> list[str]:
    """How memory grew, printed; and what was not as it should be."""
    slope, around = growth(progress.least)
    where = f"{slope:+.1f} MB a minute, 95 % interval {slope - around:+.1f} to {slope + around:+.1f}"
    print(f"Memory in the second half: {where}.")
    first, last = left["at the beginning"], left["when all have gone"]
    wrong = {
        "Not every page answered.": progress.counts["answered"] < progress.counts["opened"],
        "Something was said in red.": bool(progress.errors),
        "The log holds tracebacks.": traced > 0,
        "Memory grows.": slope - around > 0,
        "Whether memory grows is not certain: more minutes would tell.": not (slope - around > 0 or around <= CERTAIN),
        "Sessions are left.": last["sessions"] > first["sessions"],
        "Files are left.": last["files"] > first["files"] + 3,  # a session that has just gone keeps three
        "Threads are left.": last["threads"] > left.get("half-way", first)["threads"],
    }
    return [sentence for sentence, so in wrong.items() if so]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pages", default=",".join(PARTS), help="which, with commas between")
    parser.add_argument("--pause", type=float, default=1, help="seconds from one key press to the next")
    arguments = parser.parse_args()
    os.environ["HEADLIGHT_METRICS"] = "1"  # from which `held` has the number of visits
    with serve(ROOT / "app.py") as server:
        wrong = asyncio.run(rounds(server, arguments.visitors, arguments.minutes, arguments.pages.split(","), arguments.pause))
    print(" ".join(wrong) or "Every answer came, nothing was said in red, memory is flat, and nothing is left behind.")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
