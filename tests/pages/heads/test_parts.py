"""What the parts of page "Heads" say where something cannot be measured, and where a range cannot be said."""

from __future__ import annotations

import pytest

from tests.pages.opening import open_link, said

FRENCH = "model=translator&level=expert&text=The+cat+sat"


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (f"{FRENCH}&heads-part=Weights", "Choose “Encoder” or “Decoder” in the side bar"),
        (f"{FRENCH}&heads-part=Importance&heads-text=your+text", "Type a text and its target"),
        (f"{FRENCH}&target=Le+chat&heads-part=Importance&heads-text=your+text", "too short for a range"),
        (f"{FRENCH}&target=Le+chat&heads-part=Stand-ins&heads-text=your+text&attention=Decoder", "Most like Decoder L"),
    ],
    ids=["cross-attention by its weights", "no target", "one text", "stand-ins"],
)
def test_what_a_part_says(link, words):
    assert words in said(open_link("heads", link))


def test_a_beginner_meets_heads_and_hears_what_a_link_keeps_for_later():
    app = open_link("heads", "text=The+cat+sat&heads-part=Importance")
    assert "Choose the level “Intermediate” to see that" in said(app)
