"""Who looks at the same through the same has one drawing; who looks at anything else has another."""

from __future__ import annotations

from dataclasses import replace

import pytest

import models
from pages.attention import recipes
from ui.look import Look
from ui.picture.picture import Picture


@pytest.fixture(scope="module")
def look() -> Look:
    model = models.load("writer")
    return Look(model, model.trace("The cat sat on the mat. The cat"), level="expert", picked=(5, 1))


def lines(look: Look, **options) -> Picture:
    return Picture(recipes.head_lines, (look,), {"layer": 5, "heads": [1], "chosen": None} | options, "head-view", dict)


def test_a_drawing_of_the_same_is_one(look):
    assert lines(look).drawn is lines(replace(look)).drawn
    assert lines(look).drawn == lines(look)._draw()


@pytest.mark.parametrize(
    "other",
    [
        lambda look: lines(look, layer=4),
        lambda look: lines(look, heads=None),
        lambda look: lines(look, chosen=3),
        lambda look: lines(replace(look, level="beginner")),
        lambda look: lines(replace(look, options={"whole_words": True})),
        lambda look: lines(look.within(keys=(2, 5))),
        lambda look: lines(replace(look, trace=look.model.trace("The cat sat on the"))),
    ],
)
def test_a_drawing_of_anything_else_is_its_own(look, other):
    first, drawing = lines(look).drawn, other(look)
    assert drawing.drawn is not first and drawing.drawn == drawing._draw()


def test_what_carries_numbers_of_its_own_or_asks_the_model_is_drawn_each_time(look):
    for more in ({"data": {"weights": look.trace.hidden["self"]}}, {"takes": ("model", "trace")}):
        first, second = (Picture(lambda *_, **__: object(), (look,), {}, "key", dict, **more).drawn for _ in range(2))
        assert first is not second
