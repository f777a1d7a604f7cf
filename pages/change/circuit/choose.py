"""The menus of experiment "Circuit", and the search for one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import streamlit as st

from pages.change import state as page_state
from pages.change.circuit import recipes
from pages.change.circuit.settings import ALL, FEW, Settings
from pages.change.question import ask
from ui import effort, state
from ui.choices import text_boxes
from ui.choices.widgets import one_of, slider
from ui.look import Look
from ui.memory import jobs
from ui.words import say, words

HERE = Path(__file__).parents[1]
FILLS = dict(zip(page_state.CIRCUIT_FILL.values, ("mean", "zero", "other text"), strict=True))
WAIT = 20.0  # seconds; a longer search waits for a click
EACH = 0.01  # seconds that a reading takes besides, however short the text: measured on one core


def ask_circuit(look: Look) -> Settings | None:
    """Place the menus, and return their settings; None, with a sentence, while there is no text to compare with."""
    question = ask(look, look.trace)
    names = tuple(FILLS) if look.model.info.queries else ("zeros",)
    settings = words(HERE, "circuit settings")  # at the levels that fold them
    with st.expander(settings) if settings else st.container():
        left, right = st.columns(2)
        with left:
            fill = one_of(
                page_state.CIRCUIT_FILL,
                tuple(FILLS),
                "what takes the place of a part",
                offered=names,
                menu=True,
                label=words(HERE, "circuit fill"),
                help=words(HERE, "circuit fill help"),
                on_change=begin,
            )
            state.keep(page_state.CIRCUIT_FILL, fill, names[0])
        with right:
            keep = slider(
                page_state.CIRCUIT_KEEP,
                words(HERE, "circuit keep"),
                50,
                95,
                5,
                format="%d %%",
                help=words(HERE, "circuit keep help"),
            )
    other = ""
    if FILLS[fill] == "other text":
        other = text_boxes.one_line(
            page_state.CIRCUIT_OTHER, words(HERE, "circuit other"), "Your text with a word changed …", labelled=True
        )
        if not other.strip():
            say(HERE, "circuit no text")
            return None
    if len(names) == 1:
        say(HERE, "circuit zeros only")
    return Settings(question, keep / 100, FILLS[fill], other)


def ask_lines(settings: Settings, lines: int) -> Settings:
    """Place the choice of how many lines are drawn, where there are more than a few. lines: how many there are."""
    if lines <= FEW:
        return settings
    names = (f"the {FEW} widest", f"the {ALL} widest")
    chosen = one_of(page_state.CIRCUIT_LINES, names, "the lines", label=words(HERE, "circuit lines"))
    return replace(settings, most=ALL if chosen == names[1] else FEW)


def begin() -> None:
    """Fill the other text with a copy of the first, in which the user changes a word."""
    if page_state.CIRCUIT_FILL.get() == "another text" and not state.box_text(page_state.CIRCUIT_OTHER):
        text_boxes.change(page_state.CIRCUIT_OTHER, state.box_text(state.TEXT))


def search(settings: Settings) -> recipes.Wiring | None:
    """Return the circuit; None while the search runs, or waits for a click. Errors: as `analysis.find_circuit`."""
    look = settings.question.look
    time = effort.seconds(look.model.info, len(look.trace.tokens) + len(look.trace.target), settings.readings)
    time += EACH * settings.readings
    cost = f"about {settings.readings:,} readings of your text, {effort.format_duration(time)}"
    if time > WAIT and not effort.is_begun(settings.key):
        say(HERE, "circuit takes long", cost=cost)
        effort.offer(f"Look for the circuit ({effort.format_duration(time)})", settings.key)
        return None
    return jobs.result(
        settings.key,
        lambda report: recipes.find(look.model, look.trace, **settings.options, report=report),
        f"Looking for the circuit: {cost}",
    )
