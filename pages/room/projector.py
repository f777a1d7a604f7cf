"""How to join a room: its code, its link, and the link as a QR code, beside the leader's tools or alone on a projector."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import segno
import streamlit as st

from ui import state
from ui.memory.allowed import HERE_ONLY
from ui.rooms import play
from ui.rooms.seat import Seat
from ui.words import say

SMALL, LARGE = 300, 420  # pixels of the QR code beside the leader's tools, and alone


def show(folder: Path, mine: Seat) -> None:
    """Show how to join, and how to lead from a second device, beside the leader's tools."""
    code, base = mine.room.code, address()
    say(folder, "only here" if is_only_here() else "projector")
    show_code(code, SMALL)
    with st.popover("Lead from a second device", icon=":material/devices:"):
        say(folder, "second device")
        other = f"{base}/rooms/{code}/lead?key={state.ROOM_KEY.get()}"
        st.image(picture(other), width=220, alt="QR code of the link below")
        st.code(other, language=None, wrap_lines=True)


def show_class(mine: Seat) -> None:
    """Show a class the code alone; the strip above has the question and its answers, and of the leader's tools there are only the
    buttons of a question."""
    if mine.room.question:
        with st.container(horizontal=True, gap="small"):
            play.question_buttons(mine.room)
    with st.container(key="room-code"):
        show_code(mine.room.code, LARGE)


def show_code(code: str, width: int) -> None:
    """Show a room's code, its link, and the link as a QR code."""
    link = f"{address()}/?room={code}"
    st.markdown(f"# {code}")
    st.image(picture(link), width=width, alt=f"QR code of the link {link}")
    st.code(link, language=None, wrap_lines=True)


def is_only_here() -> bool:
    """Return whether the address of this server opens on this machine only."""
    return (urlsplit(address()).hostname or "localhost") in HERE_ONLY


def address() -> str:
    """Return the address of this server, without a page."""
    url = (st.context.url or "").partition("?")[0].rstrip("/")
    return url.removesuffix("/room")


def picture(link: str) -> str:
    """Return a QR code as SVG, dark on light in every theme, because phones need it so."""
    return segno.make(link, error="m").svg_inline(scale=8, border=3, dark="black", light="white")
