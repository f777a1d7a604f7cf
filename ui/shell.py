"""The frame of every page: side bar, text boxes, and the fragment that a keystroke reruns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

import models
from ui import document, state
from ui.choices import boxes, gallery, picker
from ui.memory import cached, jobs, loaded
from ui.serving.sending import wait_until_sent
from ui.show import complaint, picture
from ui.text import called, plain
from ui.words import words

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace


def side_bar() -> None:
    """Level and model, on every page and in every link."""
    jobs.here()
    state.check_link("level", state.LEVELS, "the level")
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
        picker.side_bar()
    gallery.button()
    if picker.in_use() in loaded.shelf:
        boxes.side_bar(loaded.model(picker.in_use()).info)


def whole_page_next() -> None:
    """After this fragment's rerun, rerun the page: something outside the fragment must follow a choice made inside it."""
    st.session_state["whole-page"] = True


def heading(folder: Path) -> None:
    """The page's name, and beside it in one line what it is for."""
    with st.container(key="heading"):
        st.markdown(f"# {words(folder, 'title')}\n\n{words(folder, 'purpose')}")


def live(folder: Path, draw: Callable[[LanguageModel, Trace], None], reads: bool = True) -> None:
    """Place the heading and the text boxes, and below them what `draw` makes of the text: boxes and picture are what a keystroke
    reruns. folder: where the words of the page stand; reads: whether the page shows what the model makes of the text,
    so that it matters how much of it the model can read."""

    @st.fragment
    def stage() -> None:
        jobs.here()
        name = picker.in_use()
        if st.session_state.pop("whole-page", False) or picker.gone():
            st.rerun()
        text, second = boxes.write(loaded.info(name))
        with nullcontext() if name in loaded.shelf else st.spinner("Preparing the model …"):
            try:
                trace, model = loaded.read(name, text, second), loaded.model(name)
            except Exception as error:
                st.error(plain(complaint("This text", error, "read")), icon=":material/report:")
                return
        if trace.cut and reads:
            who = name.capitalize() if name in models.names() else plain(called(name))
            st.info(
                f"{who} reads at most {len(trace.tokens):,} tokens at a "
                f"time, so the first {trace.cut:,} of {len(text):,} characters are left out here.",
                icon=":material/content_cut:",
            )
        complaints = st.container()
        with picture("This page"):
            draw(model, trace)
        with complaints:
            state.show_complaints()  # of what is chosen on this page
        if not st.session_state.pop("typing", False):  # what is typed Streamlit puts there by itself
            document.keep_address(**boxes.in_address(), **picker.in_address())
        wait_until_sent()

    heading(folder)
    picker.show_trouble()
    if not picker.settled():
        for choice in ("layer", "head"):
            st.session_state.get("complaints", {}).pop(choice, None)
    state.show_complaints()
    stage()
    picker.about()
    if cached.names(cached.FRESH) != st.session_state["listed"]:
        st.rerun()  # the picker of a server's first visitor is drawn before the cache of the Hub is listed
