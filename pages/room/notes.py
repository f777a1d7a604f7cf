"""The leader's notes during a lesson: the step, its answer, and the lesson's page for teachers."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from analysis.true_answers import Answer
from models.errors import FileError
from pages.room import state as page_state
from ui import state
from ui.escaping import display_name, plain
from ui.lessons import answers, course, files
from ui.lessons.files import Lesson, Step
from ui.parts import complaint
from ui.rooms.seat import Seat
from ui.rooms.states import Event
from ui.words import say


def place_of(mine: Seat) -> tuple[Lesson, int] | None:
    """Return the class's lesson and the number of its step; None outside of a lesson."""
    at = mine.room.at or {}
    try:
        lesson = files.find(at.get(state.LESSON.name) or "")
    except FileError:  # the page of the lesson says so
        return None
    number = at.get(state.LESSON_STEP.name) or 1
    return (lesson, number) if lesson and 1 <= number <= len(lesson.steps) else None


def show(folder: Path, mine: Seat) -> None:
    """Show the notes of the class's step, behind a switch because they contain answers, and the buttons to other steps."""
    if not (place := place_of(mine)):
        return
    lesson, number = place
    step, last = lesson.steps[number - 1], number == len(lesson.steps)
    with st.container(border=True, key="room-notes"):
        st.markdown(f"**{plain(lesson.title)}** · step {number} of {len(lesson.steps)}: {plain(step.title)}")
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Step back",
                key="room-step-back",
                icon=":material/arrow_back:",
                disabled=number == 1,
                on_click=go,
                args=(mine, number - 1),
            )
            st.button(
                "Next step",
                key="room-step-next",
                icon=":material/arrow_forward:",
                disabled=last,
                on_click=go,
                args=(mine, number + 1),
            )
        if st.toggle("Show my notes and the answer", key=page_state.ROOM_NOTES.name, persist_state="session"):
            say(folder, "notes")
            st.markdown(step.words)
            if step.question:
                st.markdown(f"**{plain(step.question.ask)}** {plain(in_words(mine, step))}")
            st.markdown(lesson.teacher)


def go(mine: Seat, number: int) -> None:
    """Move the class to another step, and come back here."""
    if place := place_of(mine):
        lesson, before = place
        model = lesson.model_at(number)
        same = model == lesson.model_at(before)
        mine.happen(Event.ASKED_TO_SHOW)
        course.begin(lesson, number, {state.MODEL.name: mine.room.at["model"] if same else model})


def answer(mine: Seat, step: Step) -> Answer:
    """Return the right answer for the class's model. Errors: those of `analysis.true_answers`."""
    assert step.question
    return answers.measure_answer(step, mine.room.at["model"], step.question.answer, step.question.given)


def in_words(mine: Seat, step: Step) -> str:
    """Return the right answer as a sentence."""
    try:
        return f"With “{display_name(mine.room.at['model'])}” it is {answers.in_words(answer(mine, step).value)}."
    except Exception as error:
        return complaint("The answer", error, "computed")
