"""What a visitor has chosen, and the link that opens the same again.

Every choice is a widget with a key that is bound to the URL. This file is where the keys, their allowed values and their
defaults stand, and where a link's nonsense becomes a sentence.
"""

from __future__ import annotations

import streamlit as st

LEVELS = ("beginner", "intermediate", "expert")
DEFAULT_TEXT = "The farmer gave the hungry dog a bone, and the dog ran into the"


def level() -> str:
    return st.session_state.get("level") or LEVELS[0]


def check_link(name: str, allowed: tuple, meaning: str) -> None:
    """Say so when the URL asks for something that does not exist. The widget bound to it then falls back to its default."""
    asked = st.query_params.get(name)
    if asked is not None and asked not in [str(value) for value in allowed]:
        complain(name, asked, meaning)


def complain(name: str, asked: str, meaning: str) -> None:
    """Remember what a link asks for in vain, for a sentence of `ui.shell`."""
    st.session_state.setdefault("complaints", {})[name] = (meaning, asked)


def run_whole_page_next() -> None:
    """After this fragment's rerun, rerun the page: something outside the fragment must follow a choice made inside it."""
    st.session_state["whole-page"] = True


def ask_for_model(name: str) -> None:
    """Ask for a model by its name; from the next run of the page on."""
    st.session_state["choose"] = name
