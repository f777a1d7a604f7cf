"""What is told of a text that has grown: why it ended, what was dropped, whether it goes round, and what leads out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import escape, way_out
from analysis.loops import GRID, STRONGEST, TRIES, Escape, WayOut
from pages.generate.grown import Grown
from ui import effort
from ui.look import Look
from ui.memory import jobs, loaded
from ui.text import plain
from ui.words import words
from viz import percent
from viz.tokens import named

HERE = Path(__file__).parent
LONG = 60.0  # seconds; what takes longer waits for a press


def at_its_end(grown: Grown, look: Look) -> str:
    """Why the text stands where it does, and what was dropped: words for right below it."""
    if not grown.steps:
        return ""
    last, why = grown.steps[-1], grown.ended or grown.why
    paragraphs = [words(HERE, f"ended {why}", count=f"{len(grown.steps):,}")] if why and not grown.run else []
    if last.dropped:
        paragraphs.append(words(HERE, "dropped", count=f"{last.dropped:,}", room=f"{look.model.room:,}"))
    return "\n\n".join(paragraphs)


def going_round(grown: Grown, look: Look) -> None:
    """Whether it goes round, and what leads it elsewhere."""
    if remedy := escape(grown.steps):
        place = st.container()  # above the bar of what is still generated
        found = None if look.beginner else led_out(grown, look)
        place.info(in_circles(remedy, found, look), icon=":material/laps:")


def led_out(grown: Grown, look: Look) -> WayOut | None:
    """The smallest repetition penalty that leads out, by generating with it; None while that is not known."""
    name, text, target, chat = grown.beginning
    steps = tuple(grown.steps)
    key = ("way out", grown.beginning, look.model.condition, tuple(step.token.id for step in steps), steps[-1].strategy)
    lasts = effort.seconds(look.model.info, 1, TRIES * len(steps))
    if lasts > LONG and not effort.begun(key):
        effort.offer(f"Look for a repetition penalty that leads out ({effort.lasting(lasts)})", key)
        return None

    def work(report: jobs.Report) -> WayOut:
        with loaded.shelf.reading(name) as model:
            return way_out(model, text, steps, target, chat, report=report)

    return jobs.result(key, work, "Generating with a repetition penalty")


def in_circles(remedy: Escape, found: WayOut | None, look: Look) -> str:
    """What a text says over and over, and what leads it elsewhere. found: by which penalty, where that is known."""
    piece = look.model.spell(remedy.loop.ids).strip("\ufffd").strip()  # a round may begin inside a character
    facts = {"piece": plain(piece), "rounds": f"{remedy.loop.rounds:.1f}", "length": len(remedy.loop.ids)}
    facts |= {"temperature": f"{remedy.temperature:.2f}", "chance": percent(1 - remedy.chance)}
    sentences = [words(HERE, "loop", **facts)]
    if look.beginner:
        sentences.append(words(HERE, "loop why"))
    elif found is not None:
        facts |= {"penalty": f"{found.penalty:.3f}", "tried": found.tried, "grid": f"{GRID:g}", "strongest": f"{STRONGEST:g}"}
        facts |= {"other": plain(named(found.other)) or "the end", "said": plain(named(found.said)) or "the end"}
        likeliest = "loop likeliest" if found.penalty == 1 else "loop penalty"
        known = likeliest if np.isfinite(found.penalty) else "loop no penalty" if found.every else "loop penalty unknown"
        sentences.append(words(HERE, known, **facts))
    if 0 < remedy.temperature < np.inf:
        sentences.append(words(HERE, "loop temperature", **facts))
    return " ".join(sentences)
