"""The button that opens a room, or goes to the page of the room that the visitor leads."""

from __future__ import annotations

import streamlit as st

from ui import state
from ui.escaping import place_of
from ui.memory import addresses, loaded, trainings
from ui.rooms import seat
from ui.rooms.position import model_in_use
from ui.rooms.states import Event
from ui.rooms.store import RoomError, rooms


def button() -> None:
    """Draw the button in the side bar: it opens a room, or goes to the page of the room that the visitor leads."""
    mine = seat.mine()
    if not state.ROOM.get():
        st.sidebar.button("Open a room", key="room-open", icon=":material/groups:", width="stretch", on_click=open_here)
    elif mine and mine.person.leads and mine.page != seat.OWN_PAGE:
        label = f"Room {mine.room.code}: code, questions"
        st.sidebar.button(label, key="room-page", icon=":material/groups:", width="stretch", on_click=seat.go_to_page)


def open_here() -> None:
    """Open a room that begins where this visitor is, and go to the page for leading it."""
    try:
        room, key = rooms.open(addresses.mine(), trainings.browser())
    except RoomError as error:
        st.toast(str(error), icon=":material/groups:")
        return
    keep_what_waits()
    state.ROOM.set(room.code)
    state.ROOM_KEY.set(key)
    if mine := seat.take_seat(room.code):
        mine.happen(Event.ASKED_TO_SHOW)
    state.run_whole_page_next()


def keep_what_waits() -> None:
    """Choose the layer and head that a link asks for and only a higher level shows, because another page opens now."""
    info = loaded.info(model_in_use())
    for key, numbers in ((state.LAYER, info.numbers()), (state.HEAD, range(info.heads))):
        number_text = (state.linked_value(key) or "").removeprefix(key.name[0].upper())
        if not key.is_set and (number := place_of(number_text, numbers)) is not None:
            key.set(number)
