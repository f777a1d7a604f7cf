"""The controls of page "Change" that are no picture: what is changed, one step back, and the dials of a head."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.change import changes
from pages.change.changes import Changed
from ui import state
from ui.choices import widgets
from ui.look import Look
from ui.state import Key
from ui.text import plain
from ui.words import say, words

LISTED = 24  # changes that have a button of their own


def switch(folder: Path, offered: bool) -> None:
    """Whether each part is tried."""
    if offered:
        chosen = widgets.switch(state.TRY_ALL, words(folder, "try all"))
        state.keep(state.TRY_ALL, chosen, False)


def tries_all() -> bool:
    return bool(state.TRY_ALL.get())


def listed(folder: Path, look: Look, kept: list[str], changed: Changed) -> None:
    """What is changed, each with a button that takes it back; one step back; all as it was."""
    names = words(folder, "name head"), words(folder, "name feed-forward")
    with st.container(horizontal=True, gap="small", key="changes"):
        st.button(
            "Undo", icon=":material/undo:", key="change-undo", on_click=changes.undo, disabled=not state.CHANGES_BEFORE.get()
        )
        st.button(
            "As it was", icon=":material/restart_alt:", key="change-none", on_click=changes.change, args=([],), disabled=not kept
        )
        for one in kept[:LISTED]:
            st.button(
                plain(changes.name(look, one, *names)), icon=":material/close:", key=f"change-without-{one}",
                help="Take this change back.", type="tertiary", on_click=changes.change, args=([o for o in kept if o != one],),
            )  # fmt: skip
        if len(kept) > LISTED:
            st.caption(f"and {len(kept) - LISTED} more")
    if not kept:
        say(folder, "nothing")
    for one, why in list(changed.unfit.items())[:3]:
        st.info(plain(f"“{changes.name(look, one, *names)}” does not fit here, so it is left out. {why}"))
    if len(changed.unfit) > 3:
        st.info(f"{len(changed.unfit) - 3} more changes do not fit here and are left out.")


def dials(folder: Path, look: Look, kept: list[str]) -> None:
    """The strength and the temperature of the head that is looked at."""
    if look.beginner:
        return
    left, right = st.columns(2)
    for place, key, letter, title, most in (
        (left, state.STRENGTH, "s", f"Strength of {look.head_name}", 2.0),
        (right, state.SHARPNESS, "t", f"Temperature of {look.head_name}", 5.0),
    ):
        least = 0.0 if letter == "s" else 0.1
        value = min(max(changes.value_of(look, kept, letter), least), most)
        key.set(value)
        with place:
            st.slider(title, least, most, step=0.1, key=key.name, on_change=moved, args=(look, kept, letter, key))
    say(folder, "dials", head=look.head_name)


def moved(look: Look, kept: list[str], letter: str, key: Key[float]) -> None:
    changes.change(changes.set_value(look, kept, letter, round(key.get(), 1)))
