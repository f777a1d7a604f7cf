"""Page "Room": open, join and lead a room, with its code for the projector, its questions and its answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pages.room import asking, files, notes, prepared, projector
from pages.room import state as page_state
from ui import projector as projector_mode
from ui import shell, state
from ui.choices import picker
from ui.escaping import display_name, plain
from ui.menu import TITLES
from ui.rooms import open_button, play, seat
from ui.rooms.seat import Seat
from ui.rooms.states import Event
from ui.rooms.store import rooms
from ui.words import say

HERE = Path(__file__).parent
NOWHERE = "Nobody is here yet, and you have shown no page. Open one in the menu. Everybody who joins then sees it too."

# Characters of a typed code that are read: six letters, and spaces. The box has no `max_chars`, because Streamlit would write
# "6/20" below it, which looks as if letters were missing.
TYPED = 20


def draw() -> None:
    mine = seat.mine()
    if mine is None:
        return begin()
    if not mine.person.leads:
        return say(HERE, "waiting" if mine.follows else "following")
    if mine.room.notice:
        st.info(plain(mine.room.notice), icon=":material/info:")
    if projector_mode.is_on():
        return projector.show_class(mine)
    left, right = st.columns([5, 6], gap="large")
    with left, st.container(key="room-code"):
        projector.show(HERE, mine)
        projector_mode.enter_button()
    with right:
        st.button(
            "Back to where the class is",
            key="room-back",
            icon=":material/undo:",
            type="secondary" if mine.room.gathered() is None else "primary",
            on_click=go_back,
            args=(mine,),
        )
        notes.show(HERE, mine)
        if mine.room.question:
            asking.show(HERE, mine)
        else:
            in_lesson = notes.place_of(mine) is not None
            with st.expander("Ask the class a question", expanded=in_lesson):
                asking.show(HERE, mine)
        with st.expander("Playlist: pages that you prepared", expanded=bool(play.entries())):
            prepared.show(HERE)
        with st.expander("What the class can choose"):
            fix(mine)
            choose_pages(mine)
        files.button(mine.room)
        with st.popover("End the room", icon=":material/close:"):
            say(HERE, "end")
            st.button("End it for all", key="room-end", on_click=end, args=(mine,))


def begin() -> None:
    """Draw the forms to join or open a room, for visitors who are in none."""
    left, right = st.columns(2, gap="large")
    with left:
        say(HERE, "join")
        st.text_input("The code of the room", key=page_state.ROOM_WRITTEN.name, on_change=join, autocomplete="off")
        st.button("Join", key="room-join", icon=":material/login:", on_click=join)
    with right:
        say(HERE, "open")
        st.button("Open a room", key="room-open-here", icon=":material/groups:", type="primary", on_click=open_button.open_here)
        if projector.is_only_here():
            say(HERE, "open only here")
        with st.expander("For a projector"):
            projector_mode.enter_button()


def join() -> None:
    if not (code := "".join(page_state.ROOM_WRITTEN.get()[:TYPED].upper().split())):
        return  # a press on “Join” first leaves the box, which joins already
    state.ROOM.set(code)
    page_state.ROOM_WRITTEN.set("")
    state.run_whole_page_next()


def fix(mine: Seat) -> None:
    """Draw the leader's controls for what is fixed for all."""
    level, model = state.level(), picker.in_use()
    with st.container(horizontal=True, gap="medium"):
        for key, name, value in (
            (page_state.ROOM_FIXED_LEVEL, state.LEVEL.name, level),
            (page_state.ROOM_FIXED_MODEL, state.MODEL.name, str((mine.room.at or {}).get("model", model))),
        ):
            fixed = mine.room.fixed.get(name)
            show_as(key, fixed is not None)
            st.toggle(
                f"All stay with the {name} “{plain(display_name(fixed or value))}”",
                key=key.name,
                on_change=hold,
                args=(mine, name, value),
            )


def show_as(key: state.Key[Any], value: Any) -> None:
    """Give a control this value. If it has it already, none is sent: that would take back a press that is on its way."""
    if key.get_or(None) != value:
        key.set(value)


def hold(mine: Seat, name: str, value: str) -> None:
    mine.room.fix(**{name: None if name in mine.room.fixed else value})


def choose_pages(mine: Seat) -> None:
    """Draw the choice of the pages in the class's menu."""
    names = [name for name in TITLES if name != seat.OWN_PAGE]
    hidden = mine.room.fixed.get(seat.HIDDEN, ())
    show_as(page_state.ROOM_PAGES, [name for name in names if name not in hidden])
    say(HERE, "pages")
    st.pills(
        "Pages in the menu of the class",
        names,
        selection_mode="multi",
        format_func=TITLES.__getitem__,
        wrap=True,
        key=page_state.ROOM_PAGES.name,
        label_visibility="collapsed",
        on_change=hide,
        args=(mine, names),
    )


def hide(mine: Seat, names: list[str]) -> None:
    chosen = page_state.ROOM_PAGES.get() or ()
    mine.room.fix(**{seat.HIDDEN: [name for name in names if name not in chosen] or None})


def go_back(mine: Seat) -> None:
    """Draw the button that takes the leader back to what the class sees."""
    if mine.room.gathered() is None:
        st.toast(NOWHERE, icon=":material/groups:")
    else:
        mine.happen(Event.ASKED_TO_RETURN)


def end(mine: Seat) -> None:
    rooms.close(mine.room)
    seat.leave()


def purpose() -> str:
    """Return the heading of the page's purpose, for leaders, for the class before a projector, followers or other visitors."""
    mine = seat.mine()
    if mine and mine.person.leads and projector_mode.is_on():
        return "purpose class"
    return "purpose" if mine is None else "purpose leading" if mine.person.leads else "purpose following"


shell.still(HERE, draw, purpose())
