"""The notice about a loop, and the search for the repetition penalty that breaks it."""

from __future__ import annotations

import streamlit as st

from analysis import escape, way_out
from analysis.loops import TRIES, WayOut
from pages.generate.compose import compose
from pages.generate.continuation import Continuation
from pages.generate.settings import Looped, Settings
from ui import effort
from ui.look import Look
from ui.memory import jobs, loaded
from ui.picture.mount import composed, mount_all

LONG = 60.0  # seconds; a search that takes longer waits for a click


def place_loop_notice(continuation: Continuation, look: Look, settings: Settings) -> None:
    """Place a notice if the text loops, with the way out of the loop."""
    if remedy := escape(continuation.steps):
        place = st.container()  # above the progress bar of the search
        solution = None if look.beginner else find_way_out(continuation, look)
        with place:
            mount_all(composed(compose, look, settings, Looped(remedy, solution)))


def find_way_out(continuation: Continuation, look: Look) -> WayOut | None:
    """Return the smallest repetition penalty that breaks the loop, found by generating with it; None while it is unknown."""
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
