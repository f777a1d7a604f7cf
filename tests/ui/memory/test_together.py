"""What many look at is made once, for as long as the trace that it is of is there."""

from __future__ import annotations

import gc
from types import SimpleNamespace

import pytest

import models
from models.reading.prefix import reading_for
from ui.memory import together
from viz.view import View


class Shared:
    """What stands for attention."""


ENCODER = Shared()  # which several targets share


class Text(SimpleNamespace):
    """As much of a trace as its attention, which has an identity and can go."""

    def __init__(self) -> None:
        super().__init__(attention={"encoder": ENCODER, "cross": Shared()})


def view(size: int = 10) -> View:
    return View("board", bytes(size), "")


def test_what_was_made_of_a_trace_under_a_key_is_made_once():
    text, made = Text(), [view(), view()]
    assert together.make_once(text, "a", lambda: made[0]) is made[0]
    assert together.make_once(text, "a", lambda: made[1]) is made[0]
    assert together.make_once(text, "b", lambda: made[1]) is made[1]
    assert together.make_once(Text(), "a", lambda: made[1]) is made[1], "another trace"


@pytest.mark.parametrize("other", [view(together.LARGE + 1), [1], {"a": 1}, None], ids=["large", "list", "dict", "None"])
def test_what_is_large_or_could_be_changed_is_made_again(other):
    text, asked = Text(), []
    for _ in range(2):
        assert together.make_once(text, "a", lambda: asked.append(1) or other) is other
    assert len(asked) == 2


def test_it_goes_with_its_trace():
    gc.collect()  # what went before
    text, known = Text(), len(together._products)
    together.make_once(text, "a", view)
    assert len(together._products) == known + 1
    del text
    gc.collect()
    assert len(together._products) == known


def test_the_oldest_give_way():
    text = Text()
    for number in range(together.MOST + 5):
        together.make_once(text, number, view)
        together.make_once(text, 0, view)  # which is asked for all the time
    products = together._products[id(text.attention["cross"])]
    assert len(products) == together.MOST and 0 in products and 1 not in products


def test_what_could_not_be_made_is_asked_for_again():
    text, made = Text(), view()
    with pytest.raises(ZeroDivisionError):
        together.make_once(text, "a", lambda: 1 / 0)
    assert together.make_once(text, "a", lambda: made) is made


@pytest.mark.parametrize(("name", "target"), [("writer", ""), ("translator", "Je")])
def test_readers_of_one_text_have_one_drawing_and_another_text_or_target_has_its_own(name, target):
    model = models.load(name)

    def read(reader: str, text: str, target: str) -> View:
        with reading_for(reader):
            trace = model.trace(text, target)
        return together.make_once(trace, "a", view)

    first = read("me", "I am tired", target)
    if name == "writer":  # whose texts are read once for all
        assert read("you", "I am tired", target) is first
    else:
        assert read("me", "I am tired", "Je suis") is not first
    assert read("you", "I am tired of", target) is not first
