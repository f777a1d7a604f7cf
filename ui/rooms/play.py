"""The playlist of who leads: filled from what they see, saved and opened as a file, and played entry by entry."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from ui import state
from ui.escaping import plain
from ui.lessons import answers
from ui.memory import loaded
from ui.menu import TITLES
from ui.parts import complaint
from ui.rooms import playlist
from ui.rooms.playlist import ENTRIES, MODEL, Entry, PlaylistError
from ui.rooms.questions import Question, RoomError
from ui.rooms.store import Room

FULL = f"A playlist has at most {ENTRIES} entries. Remove one first."


def entries() -> tuple[Entry, ...]:
    return state.PLAYLIST.get()


def current() -> Entry | None:
    """Return the entry that was opened or added last; None where there is none."""
    number = state.PLAYLIST_AT.get()
    return entries()[number - 1] if 1 <= number <= len(entries()) else None


def row(room: Room, page: str) -> None:
    """Draw, beside the strip of the room, what the leader can do with the playlist: add what they see, go on, and ask."""
    at, count = state.PLAYLIST_AT.get(), len(entries())
    with st.container(horizontal=True, gap="small", key="room-playlist"):
        st.button(
            "Add what I see",
            key="playlist-add",
            icon=":material/playlist_add:",
            on_click=add,
            args=(page,),
            help="Adds this page, with its text and all that is chosen, to the playlist on page Room.",
        )
        if at < count:
            st.button(
                f"Next, {at + 1} of {count}: {plain(TITLES[entries()[at].page])}",
                key="playlist-next",
                icon=":material/skip_next:",
                type="primary",
                on_click=open_entry,
                args=(at + 1,),
            )
        entry = current()
        if room.question:
            question_buttons(room)
        elif entry and entry.question and entry.question.words != last_asked(room):
            st.button("Ask the question", key="playlist-ask", icon=":material/campaign:", on_click=ask, args=(room, entry))


def last_asked(room: Room) -> str:
    return room.questions[-1].words if room.questions else ""


def question_buttons(room: Room) -> None:
    """Draw what can be done with the question that is asked now."""
    question = room.question
    if not question:
        return
    st.button(
        "Hide the counts" if question.counts_visible else "Show the counts to all",
        key="room-show",
        icon=":material/visibility_off:" if question.counts_visible else ":material/visibility:",
        on_click=room.show,
        args=(not question.counts_visible,),
    )
    if question.right:
        st.button(
            "Show the right answer",
            key="room-reveal",
            icon=":material/check_circle:",
            disabled=question.right_visible,
            on_click=room.reveal,
        )
    st.button("End the question", key="room-stop", icon=":material/stop:", on_click=room.stop)


def add(page: str) -> None:
    """Add what is seen on a page, behind the entry that was opened or added last."""
    if len(entries()) >= ENTRIES:
        return say(FULL)
    try:
        entry = playlist.entry_here(page)
    except PlaylistError as error:
        return say(f"This view cannot be added. {error}")
    at = min(state.PLAYLIST_AT.get(), len(entries()))
    state.PLAYLIST.set((*entries()[:at], entry, *entries()[at:]))
    state.PLAYLIST_AT.set(at + 1)
    st.toast(f"Added as entry {at + 1}. The playlist is on page Room.", icon=":material/playlist_add_check:")


def open_entry(number: int) -> None:
    """Go to an entry's page, with its choices and no others, as if its link had been opened."""
    if not 1 <= number <= len(entries()):
        return
    entry = entries()[number - 1]
    state.PLAYLIST_AT.set(number)
    state.WELCOME.set(False)
    state.LESSON_NEXT.set((entry.page, dict(entry.link)))
    state.run_whole_page_next()


def remove(number: int) -> None:
    state.PLAYLIST.set((*entries()[: number - 1], *entries()[number:]))
    if state.PLAYLIST_AT.get() >= number:
        state.PLAYLIST_AT.set(state.PLAYLIST_AT.get() - 1)


def move_up(number: int) -> None:
    """Have an entry change places with the one before it."""
    order = list(entries())
    order[number - 2], order[number - 1] = order[number - 1], order[number - 2]
    state.PLAYLIST.set(tuple(order))
    swapped = {number: number - 1, number - 1: number}
    state.PLAYLIST_AT.set(swapped.get(state.PLAYLIST_AT.get(), state.PLAYLIST_AT.get()))


def prepare_question(question: Question | None, model: str) -> None:
    """Have the current entry ask a question, or none."""
    at = state.PLAYLIST_AT.get()
    state.PLAYLIST.set(
        tuple(replace(entry, question=question, model=model) if i == at else entry for i, entry in enumerate(entries(), 1))
    )


def ask(room: Room, entry: Entry) -> None:
    """Put the question of an entry, with what the model answers to the text that the class sees."""
    if question := entry.question:
        try:
            room.ask(question.words, question.kind, question.choices, own_answer(room, entry.model), question.right)
        except RoomError as error:
            say(str(error))


def own_answer(room: Room, what: str) -> str:
    """Return what the model that the class sees answers, in words; "" for nothing, and where it has no answer. what: of MODEL."""
    at, name = room.at, MODEL[what]
    if not name or not at:
        return ""
    try:
        texts = (at[state.TEXT.name], at[state.TARGET.name])
        return answers.in_words(answers.compute_answer(at["model"], loaded.model(at["model"]).condition, name, texts, ()).value)
    except Exception as error:
        st.toast(plain(complaint("The model’s answer", error, "computed")), icon=":material/info:")
        return ""


def open_file(text: object) -> None:
    """Replace this playlist with that of a file. If the file is wrong, say why and change nothing."""
    try:
        opened = playlist.read(text)
    except PlaylistError as error:
        return say(str(error))
    state.PLAYLIST.set(opened)
    state.PLAYLIST_AT.set(0)


def say(sentence: str) -> None:
    st.toast(plain(sentence), icon=":material/info:")
