"""The list of words in part "Vocabulary" of page Space is bounded, and a page says what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import nearest
from analysis.embedding import chance_of_nearest
from tests.pages.opening import finish, open_link, unmarked
from ui import state
from ui.choices.text_boxes import LONGEST


def test_a_list_of_any_length_is_cut_and_that_is_said():
    app = open_link("space", "space=Vocabulary&level=intermediate")
    assert not [element.value for element in app.caption if "words are shown" in element.value]
    box = app.text_input(key="vocabulary")
    box.set_value(" ".join(f"w{number}" for number in range(100_000)))
    app = finish(app.run())
    assert not app.exception and not app.error
    assert len(app.text_input(key="vocabulary").value) <= LONGEST
    (cut,) = [element.value for element in app.caption if "words are shown" in element.value]
    assert cut.startswith("Only the first 400 of ")


@pytest.mark.parametrize("level", state.LEVELS)
def test_a_list_of_neighbours_stands_beside_what_chance_gives(level):
    writer, digits = models.load("writer"), 2 if level == "beginner" else 3
    app = open_link("space", f"space=Vocabulary&level={level}")
    for word in ("dog", "river"):
        app.text_input(key="nearest-to").set_value(word)
        captions = [unmarked(caption.value) for caption in finish(app.run()).caption]
        at = next(i for i, text in enumerate(captions) if text.startswith("**By chance:**") and f"“{word}”" in text)
        chance = chance_of_nearest(writer, word, words_only=True)
        above = int(np.sum(nearest(writer, word, 8, words_only=True)["cosine"] > chance.highest.max()))
        assert f"{chance.typical:.{digits}f}" in captions[at] and f"{chance.highest.max():.{digits}f}" in captions[at]
        assert ("**No" in captions[at + 1]) == (word == "river") == (above == 0)
        assert above == 0 or f"**{above} of" in captions[at + 1]
