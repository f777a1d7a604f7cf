"""The answers of a room, taken home."""

from __future__ import annotations

import csv
import io

import streamlit as st

from ui.picture.files import cell
from ui.rooms.store import Room

COLUMNS = ("number", "question", "kind", "name", "answer", "model")


def table(room: Room) -> bytes:
    """A row for each answer to each question: UTF-8 with a byte-order mark, by which a spreadsheet knows it, and no cell of text
    that one takes for a formula."""
    written = io.StringIO()
    rows = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    for number, question in enumerate(list(room.questions), 1):
        for name, said in list(question.answers.values()) or [("", "")]:
            answer = float(said) if question.kind == "a number" and said else cell(said)
            rows.writerow([number, cell(question.words), question.kind, cell(name), answer, cell(question.model)])
    return ("\ufeff" + written.getvalue()).encode()


def button(room: Room) -> None:
    if room.questions:
        st.download_button(
            "Take the answers home", lambda: table(room), f"room-{room.code}.csv", "text/csv", key="room-answers",
            icon=":material/download:", on_click="ignore",
        )  # fmt: skip
