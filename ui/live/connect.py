"""Connects a page with the line: tells its browser the key, and what is chosen besides the text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui import state
from ui.choices import picker, text_boxes
from ui.choices.chosen import choices
from ui.escaping import BREAK
from ui.live import visits
from ui.live.message import RequestError, read
from ui.live.visits import Visit
from ui.memory import visitors

if TYPE_CHECKING:
    from collections.abc import Callable

    from ui.look import Look
    from ui.picture.board import Board
    from ui.state import Key

KEY = "line-values"
SCRIPT = Path(__file__).with_name("connect.js")


@dataclass(frozen=True)
class Live:
    """The parts of a drawn page that the line uses. composer: makes its board from a message (see `Visit`); board: the one that
    this run has placed; values: the page's own choices, as plain values; picker, changer: give the choices that a click on the
    board changes, those of all pages and the page's own, None for a click that does something else; parts: of the board, in which
    such clicks are made."""

    composer: Callable[[Look, Mapping[str, Any]], Board]
    board: Board
    values: Mapping[str, Any]
    picker: Callable[[Look, object], Mapping[str, Any] | None] | None = None
    changer: Callable[[Look, object, Mapping[str, Any]], Mapping[str, Any] | None] | None = None
    parts: tuple[str, ...] = ()


@cache
def _component() -> Callable[..., Any]:
    from viz.modules import without_types

    script = re.sub(r"^//.*\n+", "", without_types(SCRIPT.read_text("utf-8")), flags=re.MULTILINE)  # each key press sends it
    return st.components.v2.component("headlight_line", html="<i hidden></i>", js=script)


def restore_typed(page: str) -> None:
    """Write text that was typed on the previous page, and that no run has received, into the boxes of a newly opened page: a
    visitor who types and leaves at once is gone before the box has sent its text, or before a run has it."""
    texts = visits.take_brought()
    if (visit := visits.mine()) and visit.newest and visit.page not in ("", page):
        texts = ({} if visit.knows_typed else texts_on_line(visit)) | texts
        visit.newest, visit.knows_typed = "", False
    for key, text in texts.items():
        text_boxes.change(key, text)


def texts_on_line(visit: Visit) -> dict[Key[str], str]:
    """Return the texts of the last message on the line, by the keys of their boxes; none of a message of another page."""
    with suppress(RequestError):
        request = read(visit.newest)
        if request.page == visit.page:
            return {state.TEXT: request.text} | ({state.TARGET: request.second} if request.second else {})
    return {}


def has_newest(visit: Visit, texts: list[str]) -> bool:
    """Return whether the texts of a run are those that were typed last."""
    try:
        request = read(visit.newest)
    except RequestError:
        return True
    return request.text == texts[0].replace(BREAK, "\n") and request.second in ("", texts[1].replace(BREAK, "\n"))


def connect(page: str, live: Live | None, whole: bool = True) -> None:
    """Have the line answer for this page from now on. Call it after the page is drawn, in every run.

    page: its name among the folders; live: None of a page for which no line answers; whole: whether the model reads all of the
    text. A text that no link carries is left to runs of the page; so are a text of which a part is left out, all that a room
    follows, and a board with tables or pictures that only Streamlit can place. The sentences that this run has placed stay on
    screen, so the line answers only for boards with the same ones.
    """
    if live is None:
        return visits.end()
    visit = visits.begin(visitors.me())
    texts = [state.box_text(state.TEXT), state.box_text(state.TARGET)]
    frame = live.board.frame
    answers_here = whole and not state.ROOM.get() and max(map(len, texts)) <= state.LINKED and frame is not None
    visit.run += 1
    if has_newest(visit, texts):
        visit.newest = ""
    visit.page, visit.model = (page, picker.in_use()) if answers_here else ("", "")
    visit.composer, visit.picker, visit.changer, visit.frame = live.composer, live.picker, live.changer, frame
    marked = state.EXPLAINED.get()
    before = None if marked is None else {name: place for name, place in marked.items() if name not in live.board.explained}
    data: dict[str, Any] = {"key": ""}
    if answers_here:
        data = {
            "key": visit.key,
            "run": visit.run,
            "page": page,
            "model": visit.model,
            "texts": texts,
            "said": (state.SAID.get() or "").replace("\n", BREAK),
            "longest": state.LINKED,
            "parts": live.parts,
            "values": dict(live.values),
            "choices": asdict(replace(choices(), explained=before)),
        }
    _component()(key=KEY, data=json.dumps(data).encode())
