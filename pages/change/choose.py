"""The controls of page "Change": the list of changes, undo, and the dials of a head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pages.change import changes
from pages.change.changes import ChangedText
from ui import state
from ui.choices import boxes, widgets
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import visitors
from ui.state import Key
from ui.text import plain
from ui.words import heading_for, say, words
from viz import Part, change_list
from viz.tokens import listed
from viz.views.dials import Dial, dials

LISTED = 24  # the most changes that have a button of their own


def switch(folder: Path, key: Key[Any], words_of: str, offered: bool = True) -> bool:
    """Place a switch for something that can be tried, and return whether it is on."""
    if not offered:
        return False
    on = widgets.switch(key, words(folder, words_of))
    state.keep(key, on, False)
    return on


def place_switches(folder: Path, look: Look, predicts: bool) -> bool:
    """Place the switches for what is tried, and further ways to change something, at the levels that have them. Returns whether
    every line is tried."""
    with st.container(key="change-ways", horizontal=True, vertical_alignment="center", gap="small"):
        switch(folder, state.TRY_ALL, "try all", predicts)
        if look.beginner:
            state.later("intermediate", state.TRY_LINES, state.RESAMPLE)
            return False
        tries = switch(folder, state.TRY_LINES, "try lines", predicts)
        if tries:
            switch(folder, state.ALL_HEADS, "all heads")
        if look.model.info.queries:
            switch(folder, state.RESAMPLE, "resample")
            place = st.popover(words(folder, "row"), key="change-row", on_change="rerun")
            if place.open:
                with place:
                    row(folder, look)
    if state.RESAMPLE.get() and look.model.info.queries:
        boxes.one_line(state.CHANGE_OTHER, words(folder, "other"), "The same text with one word changed …", labelled=True)
    return tries


def row(folder: Path, look: Look) -> None:
    """Place the controls that replace a row of the chosen head."""
    queries = [
        f"{i}: {listed(token.text.strip(' ') or token.text, token.fragment)}" for i, token in enumerate(look.attention.queries)
    ]
    others = [f"as in H{head}" for head in range(look.attention.heads) if head != look.head]
    say(folder, "row is", head=look.head_name)
    query = one_of(state.ROW_QUERY, range(len(queries)), "", label="From (query)", menu=True, format_option=lambda i: queries[i])
    by = one_of(state.ROW_AS, ("even", *others), "", label="Its row", menu=True)
    as_in = None if by == "even" else int(by.removeprefix("as in H"))
    st.button(
        "Replace it",
        key="change-row-set",
        on_click=visitors.hold(lambda: changes.change(changes.set_row(look, changes.load(), query, as_in))),
    )


def warn_unfit(folder: Path, look: Look, changed: ChangedText) -> None:
    """Say why some of the changes are left out."""
    for change, why in list(changed.unfit.items())[:3]:
        st.info(plain(f"“{changes.name(look, change, *part_names(folder))}” does not fit here, so it is left out. {why}"))
    if len(changed.unfit) > 3:
        st.info(f"{len(changed.unfit) - 3} more changes do not fit here and are left out.")


def part_names(folder: Path) -> tuple[str, str]:
    """Return the words for a head and for a feed-forward."""
    return words(folder, "name head"), words(folder, "name feed-forward")


def list_part(folder: Path, look: Look, current: list[str]) -> Part:
    """Return the list of changes, each with a button that removes it, with the buttons for undo and for reset."""
    names = [changes.name(look, change, *part_names(folder)) for change in current[:LISTED]]
    more = f"and {len(current) - LISTED} more" if len(current) > LISTED else ""
    view = change_list(names, bool(state.CHANGES_BEFORE.get()), more)
    below = words(folder, heading_for(folder, "press", look.case))  # always, so that the board below stays in its place
    return Part("changes", view, below=below)


def click(current: list[str], value: Any) -> None:
    """Handle a click on one of these buttons."""
    if value == "undo":
        changes.undo()
    elif value == "reset":
        changes.change([])
    else:
        changes.change([change for i, change in enumerate(current) if i != value])


DIALS = {"s": ("Strength", 0.0, 2.0), "t": ("Temperature", 0.1, 5.0)}  # title, least, most


def head_dials(folder: Path, look: Look, current: list[str]) -> Part:
    """Return the dials for the strength and the temperature of the chosen head."""
    pair = [
        Dial(f"{title} of {look.head_name}", min(max(changes.value_of(look, current, letter), least), most), least, most)
        for letter, (title, least, most) in DIALS.items()
    ]
    return Part("dials", dials(pair), below=words(folder, "dials", head=look.head_name))


def turn(look: Look, current: list[str], number: int, value: float) -> None:
    """Handle a move of one of these dials."""
    changes.change(changes.set_value(look, current, tuple(DIALS)[number], round(value, 1)))
