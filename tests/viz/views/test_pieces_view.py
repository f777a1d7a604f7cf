"""Boxes over the letters of a word: what cannot be drawn is refused in a sentence, and the rest arrives as it was given."""

from __future__ import annotations

import json

import pytest

from viz.view import View
from viz.views.pieces_view import Box, Row, pieces_view
from viz.views.token_chips import token_chips


def sent(view: View) -> dict:
    length = int.from_bytes(view.data[:4], "little")
    return json.loads(view.data[4 : 4 + length])


def test_each_box_comes_at_its_own_step_or_at_that_of_its_row():
    rows = [
        Row([Box("b", 1, 2, step=1), Box(" a", 0, 1)]),
        Row([Box(" ab", 0, 2, "new", fragment=True, note="−1.00")], 1, "rank 3"),
    ]
    header = sent(pieces_view(2, rows, ["0 of 1", "1 of 1"], ["It begins.", "It ends."], "How it goes"))
    assert [[box["step"] for box in row["boxes"]] for row in header["rows"]] == [[1, 0], [1]]
    assert header["rows"][1]["boxes"] == [
        {"text": ["", "·", "ab"], "span": [0, 2], "step": 1, "mark": "new fragment", "note": "−1.00"}
    ]
    assert (header["names"], header["sentences"], header["label"]) == (
        ["0 of 1", "1 of 1"],
        ["It begins.", "It ends."],
        "How it goes",
    )


@pytest.mark.parametrize(
    "boxes, step, words",
    [
        ([Box("a", 0, 2), Box("b", 1, 2)], 0, "lies over another"),
        ([Box("a", 0, 3)], 0, "beyond"),
        ([Box("a", 1, 1)], 0, "from letter 1 to 1"),
        ([Box("a", 0, 1, "red")], 0, "is marked 'red'"),
        ([Box("a", 0, 1, step=1)], 0, "of step 1"),
        ([], 1, "of step 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(boxes, step, words):
    with pytest.raises(ValueError, match=words):
        pieces_view(2, [Row(boxes, step)], [""], [""])


@pytest.mark.parametrize("names, sentences", [([], []), (["one"], []), (["one"], ["a", "b"])])
def test_each_step_has_a_name_and_a_sentence(names, sentences):
    with pytest.raises(ValueError, match="one for each"):
        pieces_view(1, [], names, sentences)


def test_chips_have_a_note_each():
    with pytest.raises(ValueError, match="2 notes for 0 tokens"):
        token_chips([], notes=["a", "b"])
