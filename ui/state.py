"""What a visitor has chosen, and the link that opens the same again.

Every choice is a widget with a key that is bound to the URL. This file is where the keys, their allowed values and their
defaults stand, and where a link's nonsense becomes a sentence.
"""

from __future__ import annotations

import streamlit as st

from ui.text import plain

LEVELS = ("beginner", "intermediate", "expert")
DEFAULT_TEXT = "The farmer gave the hungry dog a bone, and the dog ran into the"
SHOWN = 60  # characters of a wrong value that a sentence repeats


def level() -> str:
    return st.session_state.get("level") or LEVELS[0]


def check_link(name: str, allowed: tuple, meaning: str) -> None:
    """Say so when the URL asks for something that does not exist. The widget bound to it then falls back to its default."""
    asked = st.query_params.get(name)
    if asked is not None and asked not in [str(value) for value in allowed]:
        complain(name, asked, meaning)


def complain(name: str, asked: str, meaning: str) -> None:
    """Keep a sentence for `show_complaints`."""
    st.session_state.setdefault("complaints", {})[name] = (
        f"The link asks for {meaning} “{plain(asked[:SHOWN])}”, which does not exist here. You see the default instead."
    )


def show_complaints() -> None:
    """The sentences collected so far, once each; they leave with the next full run."""
    for sentence in st.session_state.pop("complaints", {}).values():
        st.warning(sentence, icon=":material/link_off:")
