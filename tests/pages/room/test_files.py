"""The answers that a teacher takes home."""

from __future__ import annotations

import csv
import io

from pages.room.code import picture
from pages.room.files import COLUMNS, table
from ui.rooms.store import Rooms


def test_each_answer_is_a_row_and_no_cell_is_a_formula():
    room, _ = Rooms(b"", 60).open()
    for who in "ab":
        room.sit(who, who)
    room.ask("=HYPERLINK(1)", "a word", model="+1")
    room.answer("a", "@SUM(A1)", "-Anna")
    room.answer("b", '<b>, "quoted"\nand a line', "Ben")
    room.ask("How many?", "a number")
    room.answer("a", "3,5")
    room.ask("Nobody answers?", "choices", ("yes", "no"))
    written = table(room).decode("utf-8-sig")
    rows = list(csv.reader(io.StringIO(written, newline="")))
    assert rows[0] == list(COLUMNS)
    assert rows[1] == ["1", "'=HYPERLINK(1)", "a word", "'-Anna", "'@SUM(A1)", "'+1"]
    assert rows[2][3:5] == ["Ben", '<b>, "quoted" and a line']
    assert rows[3] == ["2", "How many?", "a number", "", "3.5", ""] and rows[4] == ["3", "Nobody answers?", "choices", "", "", ""]
    assert ",3.5," in written, "a number is a number"


def test_a_code_to_photograph_is_dark_on_light_and_says_the_link():
    svg = picture("http://localhost:8501/?room=ABCDEF")
    assert svg.startswith("<svg") and "#fff" in svg.lower() and picture("http://localhost:8501/?room=ABCDEG") != svg
