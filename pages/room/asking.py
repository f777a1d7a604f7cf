"""A question to the class, with what the model answers to it."""

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
from ui.rooms.seat import Seat
from ui.rooms.store import KINDS, RoomError
from ui.words import say

MODEL = {  # what the model answers to the text that the class sees, by its name in `analysis.true_answers`
    "nothing": "",
    "what comes next": "likeliest token",
    "how many tokens the text has": "number of tokens",
    "which word matters most": "word that matters most",
}


def show(folder: Path, mine: Seat) -> None:
    """The question that is asked now and what can be done with it, or a form for the next."""
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
        st.text_area("The choices, one in a line", key=page_state.ROOM_CHOICES.name, height=110, max_chars=3000)
    st.text_input("The right answer, only for your table", key=page_state.ROOM_RIGHT.name, max_chars=200)
    st.selectbox("The model’s answer, shown beside the others", list(MODEL), key=page_state.ROOM_MODEL.name)
    st.button("Ask", key="room-ask-now", icon=":material/campaign:", type="primary", on_click=ask, args=(mine,))


def ask(mine: Seat) -> None:
    words, kind = page_state.ROOM_ASK.get(), page_state.ROOM_KIND.get() or KINDS[0]
    choices = tuple(page_state.ROOM_CHOICES.get().splitlines())
    try:
        mine.room.ask(
            words, kind, choices, own_answer(mine, MODEL[page_state.ROOM_MODEL.get() or "nothing"]), page_state.ROOM_RIGHT.get()
        )
    except RoomError as error:
        st.toast(plain(str(error)), icon=":material/info:")
        return
    page_state.ROOM_ASK.set("")
    page_state.ROOM_RIGHT.set("")


def own_answer(mine: Seat, name: str) -> str:
    """What the model that the class sees answers, in words; "" for nothing, and where it has no answer."""
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
    """Put the question of a lesson's step, with the answer of the model that the class sees."""
    try:
        right = notes.answer(mine, step)
        asked = step.question.ask if step.question else ""
        answer = panel.in_words(right.value)
        mine.room.ask(asked, KINDS[0] if right.choices else KINDS[1], right.choices, answer, answer)
    except Exception as error:
        st.toast(plain(complaint("The question", error, "asked")), icon=":material/info:")
