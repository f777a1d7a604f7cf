"""Notices about a generated text: why it ended, dropped tokens, loops, and the repetition penalty that leads out of a loop."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import escape, way_out
from analysis.loops import GRID, STRONGEST, TRIES, Escape, WayOut
from pages.generate.continuation import Continuation
from ui import effort
from ui.look import Look
from ui.memory import jobs, loaded
from ui.text import plain
from ui.words import words
from viz import percent
from viz.tokens import named

HERE = Path(__file__).parent
LONG = 60.0  # seconds; a search that takes longer waits for a click


def end_notice(continuation: Continuation, look: Look) -> str:
    """Return the words below the text: why it ended where it did, and how many tokens were dropped."""
    if not continuation.steps:
        return ""
    last, why = continuation.steps[-1], continuation.end_reason or continuation.why
    paragraphs = [words(HERE, f"ended {why}", count=f"{len(continuation.steps):,}")] if why and not continuation.run else []
    if last.dropped:
        paragraphs.append(words(HERE, "dropped", count=f"{last.dropped:,}", room=f"{look.model.room:,}"))
    return "\n\n".join(paragraphs)


def place_loop_notice(continuation: Continuation, look: Look) -> None:
    """Place a notice where the text goes round in circles, with what leads it elsewhere."""
    if remedy := escape(continuation.steps):
        place = st.container()  # above the progress bar of the search
        solution = None if look.beginner else find_way_out(continuation, look)
        place.info(describe_loop(remedy, solution, look), icon=":material/laps:")


def find_way_out(continuation: Continuation, look: Look) -> WayOut | None:
    """Return the smallest repetition penalty that leads out of the loop, by generating with it; None while that is not known."""
    name, text, target, chat = continuation.beginning
    steps = tuple(continuation.steps)
    key = ("way out", continuation.beginning, look.model.condition, tuple(step.token.id for step in steps), steps[-1].strategy)
    duration = effort.seconds(look.model.info, 1, TRIES * len(steps))
    if duration > LONG and not effort.is_begun(key):
        effort.offer(f"Look for a repetition penalty that leads out ({effort.format_duration(duration)})", key)
        return None

    def work(report: jobs.Report) -> WayOut:
        with loaded.shelf.reading(name) as model:
            return way_out(model, text, steps, target, chat, report=report)

    return jobs.result(key, work, "Generating with a repetition penalty")


def describe_loop(remedy: Escape, solution: WayOut | None, look: Look) -> str:
    """Return sentences on what a text repeats, and what leads it elsewhere. solution: the penalty, where that is known."""
    piece = look.model.spell(remedy.loop.ids).strip("\ufffd").strip()  # a round may begin inside a character
    facts = {"piece": plain(piece), "rounds": f"{remedy.loop.rounds:.1f}", "length": len(remedy.loop.ids)}
    facts |= {"temperature": f"{remedy.temperature:.2f}", "chance": percent(1 - remedy.chance)}
    sentences = [words(HERE, "loop", **facts)]
    if look.beginner:
        sentences.append(words(HERE, "loop why"))
    elif solution is not None:
        facts |= {
            "penalty": f"{solution.penalty:.3f}",
            "tried": solution.tried,
            "grid": f"{GRID:g}",
            "strongest": f"{STRONGEST:g}",
        }
        facts |= {"other": plain(named(solution.other)) or "the end", "said": plain(named(solution.original)) or "the end"}
        likeliest = "loop likeliest" if solution.penalty == 1 else "loop penalty"
        result = likeliest if np.isfinite(solution.penalty) else "loop no penalty" if solution.every else "loop penalty unknown"
        sentences.append(words(HERE, result, **facts))
    if 0 < remedy.temperature < np.inf:
        sentences.append(words(HERE, "loop temperature", **facts))
    return " ".join(sentences)
