"""Gain of each replaced function of Streamlit or its server: visitors type with all of them, without each, and without any.

    python -m benchmarks.replacements [--visitors 20] [--seconds 8] [--turns 3] [--only bundles theme]

A server is started for each row of each turn, with HEADLIGHT_PLAIN_STREAMLIT as the row says; every other turn goes through the
rows backwards, so that a machine that slows down meanwhile is no replacement's fault. A row shows the median of its turns, and
the change in per cent of the row in which all are replaced; positive: it costs more without. The least and the greatest change
stand beside it: where their signs differ, the turns show no change. A first row twice ("again") is the null: what chance gives.
Rows of what is not about time (order, timers, loops, typing_pause) show whether they cost any.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics

import psutil

from benchmarks.crowd import TYPING, Counts, crowd
from benchmarks.reading import drawn
from tests.serving import ROOT, serve
from ui.serving.replacements import ALL, REPLACEMENTS, SESSION, SWITCH

NONE, AGAIN = "", "0"  # left out: all are replaced
MEASURES = ("cpu", "median", "p95")
WARM_UP = 3  # seconds


def measure(left_out: str, visitors: int, seconds: float) -> Counts:
    """Return what a crowd came to on a fresh server that leaves these functions as they are."""
    os.environ[SWITCH] = left_out
    try:
        with serve(ROOT / "app.py") as server:
            processes = (psutil.Process(server.process.pid),)
            asyncio.run(crowd(server.url, processes, drawn, TYPING, 1, WARM_UP))
            return asyncio.run(crowd(server.url, processes, drawn, TYPING, visitors, seconds))
    finally:
        del os.environ[SWITCH]


def changes(rows: list[Counts], first: list[Counts], name: str) -> tuple[float, float, float]:
    """Return the median change of a measure in per cent of the row in which all are replaced, its least and its greatest."""
    each = [100 * (row[name] / base[name] - 1) for row, base in zip(rows, first, strict=True)]
    return statistics.median(each), min(each), max(each)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=[*REPLACEMENTS, SESSION, ALL], default=[*REPLACEMENTS, SESSION, ALL])
    arguments = parser.parse_args()
    names = [NONE, AGAIN, *arguments.only]
    rows: dict[str, list[Counts]] = {name: [] for name in names}
    for turn in range(arguments.turns):
        for name in names if turn % 2 == 0 else reversed(names):
            rows[name].append(measure(name, arguments.visitors, arguments.seconds))
    head = "".join(f"{title}{'change %':>26}" for title in (f"{'CPU ms':>8}", f"{'median ms':>11}", f"{'p95 ms':>8}"))
    print(f"{'without':18}{head}{'answered':>10}")
    for name in names:
        title = {NONE: "none of them", AGAIN: "again", ALL: "all of them"}.get(name, name)
        line = f"{title:18}"
        for measured, width in zip(MEASURES, (8, 11, 8), strict=True):
            line += f"{statistics.median(row[measured] for row in rows[name]):{width}.1f}"
            middle, least, most = changes(rows[name], rows[NONE], measured)
            line += f"{middle:+11.1f} ({least:+.1f} … {most:+.1f})".rjust(26) if name != NONE else " " * 26
        answered = sum(row["answered"] for row in rows[name]) / sum(row["texts"] for row in rows[name])
        print(line + f"{100 * answered:9.1f}%")


if __name__ == "__main__":
    main()
