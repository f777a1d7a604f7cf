"""A class goes round: so many visitors through all pages at all levels, typing on each, for so many minutes.

    python -m benchmarks.rounds [--visitors 20] [--minutes 10] [--pages inside,generate]

Each opens a page at random with a text, model and level of their own, types eight letters on it, a key press every second, and
goes on to the next page. Every minute the table says how many pages were opened and how many of them answered the last text that
was typed there, what a page said in red, how many tracebacks the server's log holds, and how much memory the server has.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import time
from collections import Counter

import psutil

from benchmarks.protocol import Visitor
from tests.serving import ROOT, serve

PAGES = ("type", "attention", "layers", "flow", "space", "inside", "generate", "explain", "change", "heads", "build", "train")
LEVELS = ("beginner", "intermediate", "expert")
TEXTS = {
    "writer": {"text": "The farmer gave the hungry dog a bone"},
    "filler": {"text": "The [MASK] sat on the mat"},
    "translator": {"text": "The cat sleeps.", "target": "Le chat"},
}
LETTERS = " and then"
PATIENCE = 120  # seconds


def tracebacks(log: str) -> int:
    """How many a log holds; Streamlit writes some in colours."""
    return re.sub(r"\x1b\[[\d;]*m", "", log).count("Traceback (most recent call last)")


def nothing(element) -> None:
    """No element of a page is looked into: that its run ends is the answer."""


async def go_round(url: str, number: int, until: float, pages: list[str], counts: Counter, errors: list[str]) -> None:
    """One visitor's round."""
    choose = random.Random(number)
    while time.monotonic() < until:
        page, level, model = choose.choice(pages), choose.choice(LEVELS), choose.choice(list(TEXTS))
        query = {"level": level, "model": model, **TEXTS[model]}
        async with Visitor(url, nothing, query, page=page) as visitor:
            counts["opened"] += 1
            try:
                await visitor.send()
                async with asyncio.timeout(PATIENCE):
                    await visitor.finished.wait()
                    text = query["text"]
                    for letter in LETTERS if visitor.box else "":
                        await asyncio.sleep(1)
                        text += letter
                        visitor.finished.clear()
                        await visitor.type(text)
                    await visitor.finished.wait()
                counts["answered"] += 1
            except TimeoutError:
                errors.append(f"{page} {level} {model}: no answer within {PATIENCE} s")
            errors.extend(f"{page} {level} {model}: {error}" for error in visitor.tally.errors)


async def rounds(url: str, process: psutil.Process, log, visitors: int, minutes: float, pages: list[str]) -> None:
    counts, errors, printed = Counter(), [], 0
    began = time.monotonic()
    until = began + 60 * minutes
    going = [asyncio.create_task(go_round(url, number, until, pages, counts, errors)) for number in range(visitors)]
    print(f"{'minute':>6}{'opened':>8}{'answered':>9}{'in red':>7}{'tracebacks':>11}{'memory MB':>10}")
    while not all(task.done() for task in going):
        await asyncio.wait(going, timeout=60)
        minute, memory = (time.monotonic() - began) / 60, process.memory_info().rss / 1e6
        numbers = f"{minute:>6.1f}{counts['opened']:>8}{counts['answered']:>9}{len(errors):>7}"
        print(f"{numbers}{tracebacks(log()):>11}{memory:>10.0f}", flush=True)
        for error in errors[printed:]:
            print("   ", error, flush=True)
        printed = len(errors)
    await asyncio.gather(*going)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pages", default=",".join(PAGES), help="which, with commas between")
    arguments = parser.parse_args()
    pages = arguments.pages.split(",")
    with serve(ROOT / "app.py") as server:
        process = psutil.Process(server.process.pid)
        asyncio.run(rounds(server.url, process, server.log.read_text, arguments.visitors, arguments.minutes, pages))


if __name__ == "__main__":
    main()
