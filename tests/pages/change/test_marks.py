"""The words in the squares of page Change's board that say which head its sentence names."""

from __future__ import annotations

import numpy as np

import models
from pages.change import recipes
from tests.pages.opening import header_of


def test_the_board_marks_the_head_that_its_sentence_names():
    model = models.load("writer")
    trace = model.trace("Tom had a ball")
    options = {"kind": "self", "chosen": (3, 1), "names": ("head", "feed-forward", "layer"), "second": ""}
    before = header_of(recipes.parts(model, trace, changes="", position=None, suggested=(4, 7), **options).data)["texts"]
    assert before[4][7] == "try" and "".join(map("".join, before)) == "try"
    effects = np.zeros((model.info.layers, model.info.heads + 2))
    effects[1, 2], effects[0, -1] = -1.0, -9.0  # a whole layer is no head
    measured = {"position": 1, "effects": effects, **options}
    assert header_of(recipes.parts(model, trace, changes="", **measured).data)["texts"][1][2] == "most"
    changed = header_of(recipes.parts(model, trace, changes="h1.2", **measured).data)["texts"]
    assert changed[1][2] == "off" and "most" not in str(changed), "a change has its own word"
