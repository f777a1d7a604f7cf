"""A token that holds a byte of a character is named in plain words to beginners, wherever predictions are drawn as bars."""

from __future__ import annotations

import pytest

import models
from pages.generate import recipes as generated
from pages.inside import recipes as inside
from pages.type import recipes as typed
from ui.lessons import files

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


def test_the_hint_on_an_emoji_names_what_a_beginner_sees_below_its_chip():
    step = files.find("tokens").steps[3]
    trace = models.load("writer").trace(step.link["text"])
    quiet = {"ids": False, "positions": False, "surprising": False}
    view = typed.chips(trace, target=False, special=True, simple=True, chosen=None, link="", **quiet)
    assert b"4 bytes" in view.data and step.question.expect == 4
    assert step.question.hint.startswith("Below the emoji’s chip stands how many bytes it has")
