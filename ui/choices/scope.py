"""The choice of which tokens pictures show: with or without special tokens, by token or by word."""

from __future__ import annotations

import streamlit as st

from ui import state
from ui.choices.widgets import switch
from ui.look import Look
from ui.parts import APART


def special_side_bar() -> None:
    """Place the switch for special tokens, and return whether they are shown."""
    if state.level() == "beginner":
        return state.later("intermediate", state.SPECIAL)
    switch(
        state.SPECIAL,
        "Special tokens",
        True,
        st.sidebar,
        help="Tokens that mark a start, an end or a gap. When they are hidden, rows of attention add up to less than 100 %.",
    )


def side_bar() -> None:
    """Place these choices and return them as options of `ui.look.Look`."""
    special_side_bar()
    if state.level() == "beginner":
        return state.later("intermediate", state.RENORMALISED, state.WHOLE_WORDS)
    if not state.SPECIAL.get():
        switch(
            state.RENORMALISED,
            "Scale rows to 100 %",
            place=st.sidebar,
            help="Divides each row by the sum of what is shown, as if the hidden tokens were not there.",
        )
    switch(
        state.WHOLE_WORDS,
        "Whole words",
        place=st.sidebar,
        help="Joins the tokens of a word. A word gives the mean of what its tokens give, and gets the sum of what they get: "
        "A[G, H] = Σ A[q, k] / |G| over q in G and k in H.",
    )


def say_apart(look: Look) -> None:
    """Say that tokens were not joined to words, if that is so."""
    if look.apart:
        st.caption(APART)
