"""The frame of every page: side bar, text boxes, and the fragment that a keystroke reruns."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING

import streamlit as st

import models
from ui import boxes, cached, gallery, loaded, picker, state
from ui.show import complaint, picture
from ui.text import plain

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace


def side_bar() -> None:
    """Level and model, on every page and in every link."""
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


def live(draw: Callable[[LanguageModel, Trace], None]) -> None:
    """Place the text boxes, and below them what `draw` makes of the text: together they are what a keystroke reruns."""

    @st.fragment
    def stage() -> None:
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
        if trace.cut:
            st.info(
                f"{name.capitalize() if name in models.names() else plain(name)} reads at most {len(trace.tokens):,} tokens at a "
                f"time, so the first {trace.cut:,} of {len(text):,} characters are left out here.",
                icon=":material/content_cut:",
            )
        complaints = st.container()
        with picture("This page"):
            draw(model, trace)
        with complaints:
            state.show_complaints()  # of what is chosen on this page

    picker.show_trouble()
    if not picker.settled():
        for choice in ("layer", "head"):
            st.session_state.get("complaints", {}).pop(choice, None)
    state.show_complaints()
    stage()
    picker.about()
    if cached.names(cached.FRESH) != st.session_state["listed"]:
        st.rerun()  # the picker of a server's first visitor is drawn before the cache of the Hub is listed
