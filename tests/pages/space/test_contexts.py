"""The word that part "One word" of page Space opens with is one whose senses the shipped writer does part."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import occurrences, word_states
from analysis.projections import prepared
from pages.space.boards.contexts import share_nearer
from pages.space.contexts import TEXTS, WORD, own_words, typed_meanings
from tests.pages.opening import finish, open_link, words_on

AWAY, HAND = range(3), range(3, 6)  # she left, and the left hand


def test_the_first_word_is_one_point_at_first_and_comes_apart_by_its_two_senses():
    traces = [models.load("writer").trace(text) for text in TEXTS.splitlines() if text]
    places = occurrences(WORD, [trace.text for trace in traces], [trace.tokens for trace in traces])
    assert [place.text for place in places] == [*AWAY, *HAND], "once in each text"
    states = prepared(word_states([trace.hidden["self"] for trace in traces], places))
    apart = np.linalg.norm(states[:, :, None] - states[:, None], axis=-1)  # [layers + 1, place, place]
    assert apart[0].max() < 1e-5, "after the embedding they are the same"
    alike = [apart[-1][i, j] for sense in (AWAY, HAND) for i in sense for j in sense if i < j]
    other = [apart[-1][i, j] for i in AWAY for j in HAND]
    assert 1.4 * max(alike) < min(other), "any two places of one sense are much nearer than any two of both"
    same, different = (f"{1 - np.square(pairs).mean() / 2:.2f}" for pairs in (alike, other))
    means = f"is **{same}** between places of one meaning, and **{different}** between places of different meanings"
    assert means in words_on(open_link("space", "level=intermediate"))
    often = f"in **{100 * np.mean([i < j for i in alike for j in other]):.0f}\u00a0%** of all comparisons"
    assert f"more alike than two with different meanings {often}. Sorted at random, it would be 50\u00a0%" in words_on(
        open_link("space")
    )


def test_meanings_that_are_shuffled_are_nearer_in_half_of_all_comparisons():
    rng = np.random.default_rng(0)
    shares = [share_nearer(*np.split(rng.permutation(np.arange(12.0)), [5])) for _ in range(2000)]
    assert np.mean(shares) == pytest.approx(0.5, abs=0.02)
    assert share_nearer(np.array([1.0, 2.0]), np.array([2.0, 3.0])) == 3.5 / 4, "an equal distance counts half"


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_a_text_without_the_word_is_told_what_to_type_and_one_with_it_has_a_point(level):
    apart = {"beginner": "does not contain “left”", "intermediate": "does not contain “left”", "expert": "“left” does not occur"}
    assert apart[level] in words_on(finish(open_link("space", f"level={level}&text=The cat sat")))
    assert apart[level] not in words_on(finish(open_link("space", f"level={level}&text=The cat left")))


def test_the_words_of_the_own_text_that_have_something_to_compare_with_are_offered():
    assert own_words("The dog ran. A dog!", ["The dog ran. A dog!", "Then he ran home to the ran-ge"]) == ["The", "dog", "ran"]
    assert own_words("Nothing", ["Nothing", "at all"]) == [] == own_words("", ["", "at all at"])


@pytest.mark.parametrize(
    ("level", "sentence"), [("beginner", "stands in two places only"), ("intermediate", "Between the two places")]
)
def test_a_word_of_the_own_text_is_followed_and_two_places_are_compared_in_one_sentence(level, sentence):
    app = open_link("space", f"level={level}&text=Tom+has+a+rope")
    app.text_input(key="context-word").set_value("rope")
    page_text = words_on(finish(app.run()))
    assert sentence in page_text and "least alike" not in page_text
    assert "in the picture too, as “your text”" in page_text or level != "beginner"


def test_an_empty_line_begins_another_meaning():
    assert typed_meanings("a\n b\n\n \nc\na\n") == {"a": "meaning 1", "b": "meaning 1", "c": "meaning 2"}
    assert typed_meanings(" \n") == {}


def test_meanings_that_the_model_mixes_are_said_to_be_mixed_and_without_meanings_none_are_compared():
    app = open_link("space")
    lines = [line for line in TEXTS.splitlines() if line]
    app.text_area(key="contexts").set_value("\n".join([lines[0], lines[3], "", lines[1], lines[4]]))
    assert "does not keep these meanings apart" in words_on(finish(app.run()))
    app.text_area(key="contexts").set_value("\n".join(lines))
    page_text = words_on(finish(app.run()))
    assert "are most alike" in page_text and "same meaning" not in page_text
