"""Projector mode: no side bar, and all letters larger, for a picture that a class sees from afar."""

from __future__ import annotations

import streamlit as st

from ui import state

ON = state.PROJECTOR.values[-1]


def is_on() -> bool:
    """Return whether this visitor’s page is in projector mode, as its first address or a button has asked for."""
    if not state.PROJECTOR.is_set:
        value = state.PROJECTOR.in_address or ""
        if value not in state.PROJECTOR.values:
            state.complain(state.PROJECTOR, value, "the projector mode")
        state.PROJECTOR.set(value if value in state.PROJECTOR.values else "")
    return state.PROJECTOR.get() == ON


def keep_in_address() -> None:
    """Keep the mode in the address of each page."""
    state.say_in_address(state.PROJECTOR)
    state.keep(state.PROJECTOR, state.PROJECTOR.get(), "")


def enter_button() -> None:
    """Draw the button that begins the mode."""
    if not is_on():
        st.button(
            "Projector mode",
            key="projector-enter",
            icon=":material/open_in_full:",
            on_click=switch,
            args=(ON,),
            help="Hides the side bar and makes all letters larger, on every page of this window.",
        )


def leave_button() -> None:
    """Draw the button that ends the mode, in a corner of every page."""
    if is_on():
        with st.container(key="projector"):
            st.button(
                "Leave projector mode",
                key="projector-leave",
                icon=":material/close_fullscreen:",
                type="tertiary",
                on_click=switch,
                args=("",),
                help="Leave projector mode",
            )


def switch(value: str) -> None:
    state.PROJECTOR.set(value)
    state.run_whole_page_next()
