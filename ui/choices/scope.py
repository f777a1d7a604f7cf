"""What of an attention the pictures show, as chosen in the side bar."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from analysis import Scope, scope
from models.trace import Attention
from ui import state
from ui.choices import shown


def side_bar() -> None:
    """What is shown of a text: special tokens or not, tokens or words."""
    shown.side_bar()
    if state.level() == "beginner":
        return
    if not shown.special():
        st.sidebar.toggle(
            "Scale rows to 100 %",
            key="renormalised",
            bind="query-params",
            help="Divides each row by the sum of what is shown, as if the hidden tokens were not there.",
        )
    st.sidebar.toggle(
        "Whole words",
        key="whole-words",
        bind="query-params",
        help="Joins the tokens of a word. A word gives the mean of what its tokens give, and gets the sum of what they get: "
        "A[G, H] = Σ A[q, k] / |G| over q in G and k in H.",
    )


def options() -> dict[str, bool]:
    """The choices of the side bar, as `analysis.scope` takes them; those that are not its defaults."""
    if state.level() == "beginner":
        return {}
    hidden = not shown.special()
    chosen = {"whole_words": bool(st.session_state.get("whole-words"))}
    chosen["renormalised"] = hidden and bool(st.session_state.get("renormalised"))
    return ({"special": False} if hidden else {}) | {name: True for name, on in chosen.items() if on}


def of(attention: Attention, **window: tuple[int, int]) -> Scope:
    """An attention as chosen in the side bar; window: the first and last of `queries` and of `keys` that are looked at."""
    seen = scope(attention, **options(), **window)
    queries, keys = (replace(side, tokens=shown.called(side.tokens, side.start == 0)) for side in (seen.queries, seen.keys))
    return replace(seen, queries=queries, keys=keys)
