"""What each visitor of `room.py` sees: a level, a box and its echo, on either of two pages."""

import secrets
from functools import partial

import streamlit as st

from ui.rooms.route import cookie
from ui.rooms.store import rooms
from ui.show import show
from viz.views.room import room as strip

st.set_page_config(layout="wide")
here = st.session_state
if "seat" not in here:
    code = st.query_params["room"]
    room, leads = rooms.find(code, str(st.context.cookies.get(cookie(code), "")))
    here.who = secrets.token_urlsafe(12)
    here.seat = room, room.sit(here.who, here.who, leads)
    here.place = {"level": "Beginner", "text": ""}


def draw(page: str) -> None:
    room, person = here.seat
    if not person.leads and room.at:
        if room.at["page"] != page:
            st.switch_page(PAGES[room.at["page"]])
        here.place = room.at
    if not person.leads or here.place.get("page") != page:
        here.level = here.place["level"]
    here.text = here.place["text"]
    st.sidebar.segmented_control("Level", ["Beginner", "Intermediate", "Expert"], key="level")
    st.markdown(f"Level: {here.level.lower()} · Model: none")
    stage(page)


@st.fragment
def stage(page: str) -> None:
    room, person = here.seat
    taken, at = room.version, room.at
    if not person.leads and at:
        if (at["page"], at["level"]) != (page, here.level):
            st.rerun()
        here.text = at["text"]
    st.text_input("Your text", key="text", live="0ms")
    st.text(f"[{here.text}]")
    here.place = {"level": here.level, "text": here.text, "page": page}
    if person.leads:
        room.move(here.place)
    role = "leads" if person.leads else "follows"
    show(strip(room.code, who=here.who, ticket=rooms.ticket(room.code), role=role, follows=True, taken=taken), "line")


PAGES = {name: st.Page(partial(draw, name), title=name, url_path=name, default=name == "type") for name in ("type", "attention")}
st.navigation(list(PAGES.values()), position="hidden").run()
