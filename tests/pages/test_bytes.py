"""A token that holds a byte of a character is named in plain words to beginners, wherever predictions are drawn as bars."""

from __future__ import annotations

import pytest

import models
from pages.generate import recipes as generated
from pages.inside import recipes as inside
from pages.type import recipes as typed

TEXT, BEGUN = "My name is Müller.", "Je m'appelle M"


@pytest.mark.parametrize("simple", [True, False])
def test_bars_name_a_byte_in_plain_words_to_beginners_alone(simple):
    model = models.load("translator")
    trace = model.trace(TEXT, BEGUN)
    place = len(trace.read) - 1
    said = {"ids": [], "target": BEGUN, "chat": False}
    drawn = [
        typed.bars(model, trace, position=place, count=10, temperature=1.0, scores=not simple),
        generated.bars(model, trace, answer=said, strategy={}, count=10, percent=not simple),
        inside.choice(model, trace, token=place, top=10, plainly=simple),
    ]
    for view in drawn:
        assert (b"<0xC3>" not in view.data and b"part of a character" in view.data) == simple
