"""The download of a room's answers."""

from __future__ import annotations

import csv
import io
from datetime import datetime

import streamlit as st

from ui.picture.files import cell
from ui.rooms.store import Reply, Room

COLUMNS = ("number", "question", "kind", "time", "name", "answer", "right answer", "model")


def table(room: Room) -> bytes:
    """Return a CSV with a row for each answer to each question, with its time on the server's clock. It is UTF-8 with a
    byte-order mark, for spreadsheets, and none of its cells looks like a formula."""
    written = io.StringIO()
    rows = csv.writer(written, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    rows.writerow(COLUMNS)
    for number, question in enumerate(list(room.questions), 1):
        for name, reply, when in list(question.answers.values()) or [Reply("", "", 0.0)]:
            answer = float(reply) if question.kind == "a number" and reply else cell(reply)
            at = datetime.fromtimestamp(when).astimezone().isoformat(" ", "seconds") if when else ""
            known = [cell(question.right), cell(question.model)]
            rows.writerow([number, cell(question.words), question.kind, at, cell(name), answer, *known])
    return ("\ufeff" + written.getvalue()).encode()


def button(room: Room) -> None:
    if room.questions:
        st.download_button(
            "Take the answers home",
            lambda: table(room),
            f"room-{room.code}.csv",
            "text/csv",
            key="room-answers",
            icon=":material/download:",
            on_click="ignore",
        )
