"""The surroundings of the views of a board, by which the line knows whether it may draw them."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import pytest

from ui.picture.board import Board, Note, Table, joined
from ui.picture.picture import Picture
from viz.view import View
from viz.views.board import board


def view(label: str) -> View:
    return board([], label)


def chart(takes: tuple[str, ...], **options: object) -> Picture:
    return Picture(go.Figure, (), options, "chart", dict, takes=takes)


FIRST = {
    "words": view("of a text"),
    "note": Note("Always."),
    "table": Table(pd.DataFrame({"a": [1]})),
    "chart": chart(("model",)),
}
OTHERS = [
    {"note": Note("Another one.")},
    {"note": view("a view in its place")},
    {"table": Table(pd.DataFrame({"a": [2]}))},
    {"chart": chart(("model",), other="filler")},
    {"more": view("one more")},
]


def test_a_newer_text_in_its_views_has_the_same_frame():
    assert Board(FIRST).frame == Board(FIRST | {"words": view("of another text")}).frame


@pytest.mark.parametrize("change", OTHERS)
def test_another_sentence_table_chart_or_place_has_another_frame(change):
    assert Board(FIRST).frame != Board(FIRST | change).frame


def test_sentences_beside_and_their_order_belong_to_the_frame():
    backwards = dict(reversed(FIRST.items()))
    assert Board(FIRST, (Note("Beside."),)).frame != Board(FIRST).frame != Board(backwards).frame


@pytest.mark.parametrize("takes", [("trace", "seen"), ("model", "trace")])
def test_with_a_chart_of_the_text_there_is_none(takes):
    assert Board(FIRST | {"chart": chart(takes)}).frame is None


def test_parts_of_a_page_are_one_board_in_their_order():
    first = Board({"a": view("")}, (Note("One."),), (chart(()),), {"head": "here"})
    second = Board({"b": view("")}, (Note("Two."),), (), {"layer": "there"})
    whole = joined([first, second])
    assert list(whole.contents) == ["a", "b"] and whole.beside == (Note("One."), Note("Two."))
    assert whole.pictures == first.pictures and whole.explained == {"head": "here", "layer": "there"}
