"""The welcome row on page "Type" for first-time visitors: the first lesson, or a look around. Nothing waits for a choice."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from ui import state
from ui.escaping import plain
from ui.lessons import course, files
from ui.words import words

HERE = Path(__file__).parent
FIRST = "tokens"  # the first lesson of both courses


def offer() -> None:
    """Draw the row until the visitor chooses, also while they type."""
    if not state.WELCOME.get() or state.LESSON.get() or not (lesson := files.find(FIRST)):
        return
    with st.container(key="welcome", horizontal=True, vertical_alignment="center", gap="small"):
        st.caption(words(HERE, "new here"), width="content")
        st.button(
            "Lesson 1",
            key="welcome-lesson",
            type="tertiary",
            icon=":material/school:",
            on_click=choose,
            args=(True,),
            help=plain(lesson.title),
        )
        st.button(
            "Look around", key="welcome-around", type="tertiary", icon=":material/visibility:", on_click=choose, args=(False,)
        )


def choose(lesson: bool) -> None:
    state.WELCOME.set(False)
    first = files.find(FIRST)
    if lesson and first:
        course.begin(first, 1, {state.MODEL.name: first.model})
    else:
        st.toast(words(HERE, "look around"), icon=":material/lightbulb:")
