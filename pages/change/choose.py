"""The controls of page "Change": switches for experiments, and a row of a head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pages.change import changes
from pages.change import state as page_state
from ui import state
from ui.choices import text_boxes, widgets
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import visitors
from ui.state import Key
from ui.words import say, words
from viz.tokens import listed


def switch(folder: Path, key: Key[Any], words_of: str, offered: bool = True) -> bool:
    """Place a switch for an experiment, and return whether it is on."""
    if not offered:
        return False
    on = widgets.switch(key, words(folder, words_of))
    state.keep(key, on, False)
    return on


def place_switches(folder: Path, look: Look, predicts: bool) -> bool:
    """Place the switches for what is tried, and further ways to change something, at the levels that have them. Returns whether
    every line is tried."""
    with st.container(key="change-ways", horizontal=True, vertical_alignment="center", gap="small"):
        switch(folder, page_state.TRY_ALL, "try all", predicts)
        if look.beginner:
            state.later("intermediate", page_state.TRY_LINES, page_state.RESAMPLE)
            return False
        tries = switch(folder, page_state.TRY_LINES, "try lines", predicts)
        if tries:
            switch(folder, page_state.ALL_HEADS, "all heads")
        if look.model.info.queries:
            switch(folder, page_state.RESAMPLE, "resample")
            place = st.popover(words(folder, "row"), key="change-row", on_change="rerun")
            if place.open:
                with place:
                    row(folder, look)
    if page_state.RESAMPLE.get() and look.model.info.queries:
        text_boxes.one_line(
            page_state.CHANGE_OTHER, words(folder, "other"), "The same text with one word changed …", labelled=True
        )
    return tries


def row(folder: Path, look: Look) -> None:
    """Place the controls that replace a row of the chosen head."""
    queries = [
        f"{i}: {listed(token.text.strip(' ') or token.text, token.fragment)}" for i, token in enumerate(look.attention.queries)
    ]
    others = [f"as in H{head}" for head in range(look.attention.heads) if head != look.head]
    say(folder, "row is", head=look.head_name)
    query = one_of(
        page_state.ROW_QUERY, range(len(queries)), "", label="From (query)", menu=True, format_option=lambda i: queries[i]
    )
    by = one_of(page_state.ROW_AS, ("even", *others), "", label="Its row", menu=True)
    as_in = None if by == "even" else int(by.removeprefix("as in H"))
    st.button(
        "Replace it",
        key="change-row-set",
        on_click=visitors.hold(lambda: changes.save(changes.set_row(look, changes.load(), query, as_in))),
    )
