"""The choice of what a page shows, in every link."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from ui import state


def chosen(key: str, names: Sequence[str], meaning: str, here: Sequence[str] | None = None) -> str:
    """A row of names, of which one is chosen; the first, until somebody has.

    key: of the choice, in the address too. meaning: what a link's nonsense is said to ask for ("the view"). here: those of the
    names that there are at this level; beginners have fewer.
    """
    here = tuple(names if here is None else here)
    state.check_link(key, tuple(names), meaning)
    state.settle(key, names, here)
    found = st.segmented_control(
        meaning.removeprefix("the ").capitalize(),
        here,
        default=here[0],
        required=True,
        key=key,
        bind="query-params",
        label_visibility="collapsed",
        wrap=True,
    )
    state.keep(key, found, here[0])
    return found
