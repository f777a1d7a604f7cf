"""The answers that a teacher takes home."""

from __future__ import annotations

import csv
import io
import time
from datetime import datetime

from pages.room.files import COLUMNS, table
from pages.room.projector import picture
from ui.rooms.store import Rooms


def test_each_answer_is_a_row_and_no_cell_is_a_formula():
    room, _ = Rooms(b"", 60).open()
    for who in "ab":
        room.sit(who, who)
    room.ask("=HYPERLINK(1)", "a word", model="+1", right="=2")
    room.answer("a", "@SUM(A1)", "-Anna")
    room.answer("b", '<b>, "quoted"\nand a line', "Ben")
    room.ask("How many?", "a number", right="3.5")
    began = time.time()
    room.answer("a", "3,5")
    room.ask("Nobody answers?", "choices", ("yes", "no"))
    written = table(room).decode("utf-8-sig")
    heads, *lines = csv.reader(io.StringIO(written, newline=""))
    assert heads == list(COLUMNS)
    rows = [dict(zip(heads, line, strict=True)) for line in lines]
    assert [rows[0][name] for name in heads if name != "time"] == [
        "1",
        "'=HYPERLINK(1)",
        "a word",
        "'-Anna",
        "'@SUM(A1)",
        "'=2",
        "'+1",
    ]
    assert (rows[1]["name"], rows[1]["answer"]) == ("Ben", '<b>, "quoted" and a line')
    assert (rows[2]["answer"], rows[2]["right answer"], rows[2]["model"]) == ("3.5", "3.5", "")
    assert (rows[3]["question"], rows[3]["answer"], rows[3]["time"]) == ("Nobody answers?", "", "")
    times = [datetime.fromisoformat(row["time"]).timestamp() for row in rows[:3]]
    assert times == sorted(times) and abs(times[2] - began) < 60
    assert ",3.5," in written.replace('"', ""), "a number is a number"


def test_a_code_to_photograph_is_dark_on_light_and_says_the_link():
    svg = picture("http://localhost:8501/?room=ABCDEF")
    assert svg.startswith("<svg") and "#fff" in svg.lower() and picture("http://localhost:8501/?room=ABCDEG") != svg
