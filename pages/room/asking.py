"""A question to the class, with the model's answer."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.room import notes
from pages.room import state as page_state
from ui import state
from ui.escaping import plain
from ui.lessons import answers
from ui.lessons.files import Step
from ui.parts import complaint
from ui.rooms import play
from ui.rooms.playlist import MODEL, NOTHING
from ui.rooms.questions import KINDS, WRITTEN, Question, RoomError, line, prepare
from ui.rooms.seat import Seat
from ui.words import say

HIDDEN_UNTIL = "Nobody sees it until you press “Show the right answer”."


def show(folder: Path, mine: Seat) -> None:
    """Show the present question and its buttons, or a form for the next question."""
    question = mine.room.question
    if question:
        with st.container(horizontal=True, gap="small"):
            play.question_buttons(mine.room)
        return
    place = notes.place_of(mine)
    step = place[0].steps[place[1] - 1] if place else None
    if step and step.question:
        st.button(
            "Ask the question of this step", key="room-ask-step", icon=":material/school:", on_click=ask_step, args=(mine, step)
        )
    say(folder, "ask")
    st.text_input("The question", key=page_state.ROOM_ASK.name, max_chars=400)
    kind = st.segmented_control("Kind of answer", KINDS, default=KINDS[0], required=True, key=page_state.ROOM_KIND.name)
    if kind == KINDS[0]:
        lines = st.text_area("The choices, one in a line", key=page_state.ROOM_CHOICES.name, height=110, max_chars=3000)
        offered = choices_in(lines)
        if page_state.ROOM_RIGHT_CHOICE.get() not in offered:
            page_state.ROOM_RIGHT_CHOICE.set(None)
        st.selectbox(
            "The right choice",
            offered,
            key=page_state.ROOM_RIGHT_CHOICE.name,
            placeholder="None is marked",
            help=HIDDEN_UNTIL,
            disabled=not offered,
        )
    else:
        st.text_input("The right answer, if there is one", key=page_state.ROOM_RIGHT.name, max_chars=200, help=HIDDEN_UNTIL)
    st.selectbox("The model’s answer, shown beside the others", list(MODEL), key=page_state.ROOM_MODEL.name)
    with st.container(horizontal=True, gap="small"):
        st.button("Ask", key="room-ask-now", icon=":material/campaign:", type="primary", on_click=ask, args=(mine,))
        if entry := play.current():
            st.button(
                "Put it into the playlist",
                key="playlist-question",
                icon=":material/playlist_add:",
                on_click=put_into_playlist,
                help=f"Entry {state.PLAYLIST_AT.get()}, {plain(entry.name)}, then has this question.",
            )


def choices_in(lines: str | None) -> list[str]:
    """Return the choices that are written, as they will be offered."""
    return list(dict.fromkeys(choice for text in (lines or "").splitlines() if (choice := line(text, WRITTEN))))


def written_question() -> tuple[Question, str]:
    """Return the question in the form, and what the model answers to it. Errors: RoomError for one that cannot be answered."""
    words, kind = page_state.ROOM_ASK.get(), page_state.ROOM_KIND.get() or KINDS[0]
    choices = tuple(choices_in(page_state.ROOM_CHOICES.get()))
    right = page_state.ROOM_RIGHT_CHOICE.get() if kind == KINDS[0] else page_state.ROOM_RIGHT.get()
    return prepare(words, kind, choices, right=right or ""), page_state.ROOM_MODEL.get() or NOTHING


def ask(mine: Seat) -> None:
    """Put the question in the form."""
    try:
        question, model = written_question()
        mine.room.ask(question.words, question.kind, question.choices, play.own_answer(mine.room, model), question.right)
    except RoomError as error:
        return play.say(str(error))
    empty()


def put_into_playlist() -> None:
    """Have the current entry of the playlist ask the question in the form."""
    try:
        play.prepare_question(*written_question())
    except RoomError as error:
        return play.say(str(error))
    empty()


def empty() -> None:
    page_state.ROOM_ASK.set("")
    page_state.ROOM_RIGHT.set("")
    page_state.ROOM_RIGHT_CHOICE.set(None)


def ask_step(mine: Seat, step: Step) -> None:
    """Ask the question of a lesson's step, with the answer of the class's model."""
    try:
        right = notes.answer(mine, step)
        asked = step.question.ask if step.question else ""
        answer = answers.in_words(right.value)
        marked = str(right.value) if str(right.value) in right.choices else answer
        mine.room.ask(asked, KINDS[0] if right.choices else KINDS[1], right.choices, answer, marked)
    except Exception as error:
        st.toast(plain(complaint("The question", error, "asked")), icon=":material/info:")
