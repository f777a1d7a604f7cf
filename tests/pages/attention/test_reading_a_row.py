"""The sentence with which beginners learn to read a row of a heatmap: its numbers are those of the row."""

from __future__ import annotations

import pytest

import models
from pages.attention.wording import row_of
from ui.look import Choices, look_of
from viz.numbers import whole_percent

TEXTS = [("writer", "The cat sat", ""), ("filler", "A [MASK] sat", ""), ("translator", "A cat.", "Un")]


@pytest.mark.parametrize(("name", "text", "target"), TEXTS)
def test_the_row_is_that_of_the_token_and_its_share_the_largest(name, text, target):
    model = models.load(name)
    look = look_of(model, model.trace(text, target), target, Choices(level="beginner"))
    weights = look.scope[look.layer][look.head][look.scope.queries.index(look.token)]
    row = row_of(look)
    assert row["share"] == whole_percent(float(weights.max()))
    assert row["key"] == look.scope.keys.tokens[int(weights.argmax())].text.strip()
