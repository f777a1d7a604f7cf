"""A question to the class, with the model's answer."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.room import notes
from pages.room import state as page_state
from ui import state
from ui.escaping import plain
from ui.lessons import panel
from ui.lessons.files import Step
from ui.memory import loaded
from ui.parts import complaint
from ui.rooms.questions import KINDS, WRITTEN, RoomError, line
from ui.rooms.seat import Seat
from ui.words import say

MODEL = {  # what the model answers to the text that the class sees, by its name in `analysis.true_answers`
    "nothing": "",
    "what comes next": "likeliest token",
    "how many tokens the text has": "number of tokens",
    "which word matters most": "word that matters most",
}
HIDDEN_UNTIL = "Nobody sees it until you press “Show the right answer”."


def show(folder: Path, mine: Seat) -> None:
    """Show the present question and its buttons, or a form for the next question."""
    question = mine.room.question
    if question:
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Hide the counts" if question.counts_visible else "Show the counts to all",
                key="room-show",
                icon=":material/visibility_off:" if question.counts_visible else ":material/visibility:",
                on_click=mine.room.show,
                args=(not question.counts_visible,),
            )
            if question.right:
                st.button(
                    "Show the right answer",
                    key="room-reveal",
                    icon=":material/check_circle:",
                    disabled=question.right_visible,
                    on_click=mine.room.reveal,
                )
            st.button("End the question", key="room-stop", icon=":material/stop:", on_click=mine.room.stop)
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
    st.button("Ask", key="room-ask-now", icon=":material/campaign:", type="primary", on_click=ask, args=(mine,))


def choices_in(lines: str | None) -> list[str]:
    """Return the choices that are written, as they will be offered."""
    return list(dict.fromkeys(choice for text in (lines or "").splitlines() if (choice := line(text, WRITTEN))))


def ask(mine: Seat) -> None:
    words, kind = page_state.ROOM_ASK.get(), page_state.ROOM_KIND.get() or KINDS[0]
    choices = tuple(choices_in(page_state.ROOM_CHOICES.get()))
    right = page_state.ROOM_RIGHT_CHOICE.get() if kind == KINDS[0] else page_state.ROOM_RIGHT.get()
    try:
        mine.room.ask(words, kind, choices, own_answer(mine, MODEL[page_state.ROOM_MODEL.get() or "nothing"]), right or "")
    except RoomError as error:
        st.toast(plain(str(error)), icon=":material/info:")
        return
    page_state.ROOM_ASK.set("")
    page_state.ROOM_RIGHT.set("")
    page_state.ROOM_RIGHT_CHOICE.set(None)


def own_answer(mine: Seat, name: str) -> str:
    """Return the answer of the class's model in words; "" if it has none."""
    at = mine.room.at
    if not name or not at:
        return ""
    try:
        texts = (at[state.TEXT.name], at[state.TARGET.name])
        return panel.in_words(panel.compute_answer(at["model"], loaded.model(at["model"]).condition, name, texts, ()).value)
    except Exception as error:
        st.toast(plain(complaint("The model’s answer", error, "computed")), icon=":material/info:")
        return ""


def ask_step(mine: Seat, step: Step) -> None:
    """Ask the question of a lesson's step, with the answer of the class's model."""
    try:
        right = notes.answer(mine, step)
        asked = step.question.ask if step.question else ""
        answer = panel.in_words(right.value)
        marked = str(right.value) if str(right.value) in right.choices else answer
        mine.room.ask(asked, KINDS[0] if right.choices else KINDS[1], right.choices, answer, marked)
    except Exception as error:
        st.toast(plain(complaint("The question", error, "asked")), icon=":material/info:")
