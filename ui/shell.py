"""The frame of every page: side bar, text box, and the fragment that a keystroke reruns."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import streamlit as st

from ui import loaded, state

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace

EXAMPLES = (
    state.DEFAULT_TEXT,
    "Once upon a time there was a little girl who lived in the",
    "The cat sat on the",
    "Tom gave Anna a red ball. Anna thanked Tom and threw the red",
    '"Where have you been?" asked the old woman. "I have been to',
    "It was a cold night, and the snow lay deep upon the",
)
LINKED = 6000  # characters of text that a link can carry, each up to nine bytes in an address
PAUSE = "0ms"  # send each change at once: a fragment answers within a frame or two


def side_bar() -> None:
    """Level and model, on every page and in every link."""
    import models

    names = models.names()
    state.check_link("level", state.LEVELS, "the level")
    state.check_link("model", names, "the model")
    with st.sidebar:
        st.segmented_control(
            "Level",
            state.LEVELS,
            default=state.LEVELS[0],
            required=True,
            key="level",
            bind="query-params",
            width="stretch",
            wrap=False,
            help="How much each page shows and explains. What is true stays the same.",
        )
        st.selectbox("Model", names, key="model", bind="query-params")


def text_box() -> str:
    if "one-line" in st.session_state:
        st.session_state["text"] = st.session_state.pop("one-line")
    long = len(st.session_state.get("text") or "") > LINKED  # a server refuses an address that is longer than about 64 KB
    with st.container(key="text-box", horizontal=True, vertical_alignment="center", gap="small", wrap=False):
        text = st.text_input(
            "Your text",
            value=state.DEFAULT_TEXT,
            key="text",
            bind=None if long else "query-params",
            live=PAUSE,
            label_visibility="collapsed",
            placeholder="Type something …",
            autocomplete="off",
        )
        st.menu_button("Examples", EXAMPLES, key="example", icon=":material/lightbulb:", on_click=take_example)
    if re.search(r"[\r\n]", text or ""):  # out of a link: the box would drop the line break and join the words
        st.session_state["one-line"] = re.sub(r"[\r\n]+", " ", text)
        st.rerun()
    return text or ""


def take_example() -> None:
    st.session_state["token"] = None
    st.session_state["text"] = st.session_state["example"]


def append(token: str) -> None:
    """Add a token's text to what is typed. The box holds one line."""
    if "\n" in token or "\r" in token:
        st.toast("The text box holds a single line, so a line break cannot be added to it.", icon=":material/keyboard_return:")
    else:
        st.session_state["text"] = (st.session_state.get("text") or "") + token


def whole_page_next() -> None:
    """After this fragment's rerun, rerun the page: something outside the fragment must follow a choice made inside it."""
    st.session_state["whole-page"] = True


def live(draw: Callable[[LanguageModel, Trace], None]) -> None:
    """Place the text box, and below it what `draw` makes of its text: together they are what a keystroke reruns."""

    @st.fragment
    def stage() -> None:
        if st.session_state.pop("whole-page", False):
            st.rerun()
        name = st.session_state["model"]
        text = text_box()
        trace = loaded.read(name, text)
        if trace.cut:
            st.info(
                f"{name.capitalize()} reads at most {len(trace.tokens):,} tokens at a time, so the first {trace.cut:,} of "
                f"{len(text):,} characters are left out here.",
                icon=":material/content_cut:",
            )
        draw(loaded.model(name), trace)

    state.show_complaints()
    stage()
