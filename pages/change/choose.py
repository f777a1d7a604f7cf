"""The controls of page "Change": what is changed, one step back, and the dials of a head."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pages.change import changes
from pages.change.changes import Changed
from ui import state
from ui.choices import boxes, widgets
from ui.choices.widgets import one_of
from ui.look import Look
from ui.memory import visitors
from ui.state import Key
from ui.text import plain
from ui.words import headed, say, words
from viz import Part, change_list
from viz.tokens import named
from viz.views.dials import Dial, dials

LISTED = 24  # changes that have a button of their own


def switch(folder: Path, key: Key[Any], words_of: str, offered: bool = True) -> bool:
    """Something that is tried, or not."""
    if not offered:
        return False
    chosen = widgets.switch(key, words(folder, words_of))
    state.keep(key, chosen, False)
    return chosen


def ways(folder: Path, look: Look, predicts: bool) -> bool:
    """What is tried, and further ways to change something, at the levels that have them. Returns whether every line is tried."""
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
    """Which row of the head that is looked at is replaced, and by what."""
    queries = [f"{i}: {named(token.text)}" for i, token in enumerate(look.attention.queries)]
    others = [f"as in H{head}" for head in range(look.attention.heads) if head != look.head]
    say(folder, "row is", head=look.head_name)
    query = one_of(state.ROW_QUERY, range(len(queries)), "", label="From (query)", menu=True, written=lambda i: queries[i])
    by = one_of(state.ROW_AS, ("even", *others), "", label="Its row", menu=True)
    as_in = None if by == "even" else int(by.removeprefix("as in H"))
    st.button(
        "Replace it",
        key="change-row-set",
        on_click=visitors.hold(lambda: changes.change(changes.set_row(look, changes.kept(), query, as_in))),
    )


def what_does_not_fit(folder: Path, look: Look, changed: Changed) -> None:
    """Why some of what is changed is left out."""
    for one, why in list(changed.unfit.items())[:3]:
        st.info(plain(f"“{changes.name(look, one, *called(folder))}” does not fit here, so it is left out. {why}"))
    if len(changed.unfit) > 3:
        st.info(f"{len(changed.unfit) - 3} more changes do not fit here and are left out.")


def called(folder: Path) -> tuple[str, str]:
    """What a head and a feed-forward are called."""
    return words(folder, "name head"), words(folder, "name feed-forward")


def listed(folder: Path, look: Look, kept: list[str]) -> Part:
    """What is changed, each with a button that takes it back; one step back; all as it was."""
    names = [changes.name(look, one, *called(folder)) for one in kept[:LISTED]]
    more = f"and {len(kept) - LISTED} more" if len(kept) > LISTED else ""
    view = change_list(names, bool(state.CHANGES_BEFORE.get()), more)
    below = words(folder, headed(folder, "press", look.case))  # always: the board below it stays where it is
    return Part("changes", view, below=below)


def press(kept: list[str], value: Any) -> None:
    """What a press on one of these buttons does."""
    if value == "undo":
        changes.undo()
    elif value == "reset":
        changes.change([])
    else:
        changes.change([one for i, one in enumerate(kept) if i != value])


DIALS = {"s": ("Strength", 0.0, 2.0), "t": ("Temperature", 0.1, 5.0)}  # what is called so, from, to


def head_dials(folder: Path, look: Look, kept: list[str]) -> Part:
    """The strength and the temperature of the head that is looked at."""
    each = [
        Dial(f"{title} of {look.head_name}", min(max(changes.value_of(look, kept, letter), least), most), least, most)
        for letter, (title, least, most) in DIALS.items()
    ]
    return Part("dials", dials(each), below=words(folder, "dials", head=look.head_name))


def turn(look: Look, kept: list[str], number: int, value: float) -> None:
    """What a move of one of them does."""
    changes.change(changes.set_value(look, kept, tuple(DIALS)[number], round(value, 1)))
