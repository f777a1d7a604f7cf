"""The list of words in part "Vocabulary" of page Space is bounded, and a page says what it leaves out."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import analogy, nearest
from analysis.embedding import chance_of_analogy, chance_of_nearest, cosines, first_answers
from pages.space.analogies import READY, name_of
from tests.pages.opening import finish, open_link, unmarked, words_on
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
    writer, digits = models.load("writer"), 3
    app = open_link("space", f"space=Vocabulary&level={level}")
    for word in ("dog", "river"):
        app.text_input(key="nearest-to").set_value(word)
        captions = [unmarked(caption.value) for caption in finish(app.run()).caption]
        chance = chance_of_nearest(writer, word, words_only=True)
        above = int(np.sum(nearest(writer, word, 8, words_only=True)["cosine"] > chance.highest.max()))
        if level == "beginner":
            assert ("**No word in this list is more alike" in " ".join(captions)) == (above == 0)
            assert above == 0 or f"The first {above} of these 8 are more alike than chance" in " ".join(captions)
            continue
        at = next(i for i, text in enumerate(captions) if text.startswith("**By chance:**") and f"“{word}”" in text)
        assert f"{chance.typical:.{digits}f}" in captions[at] and f"{chance.highest.max():.{digits}f}" in captions[at]
        answer = captions[at + 1 if level == "expert" else at - 1]
        assert ("**No" in answer) == (word == "river") == (above == 0)
        assert above == 0 or f"**{above} of" in answer


def test_the_most_alike_of_the_words_on_the_map_are_named():
    words = "dog cat river lake green"
    app = open_link("space", "space=Vocabulary&level=beginner")
    app.text_input(key="vocabulary").set_value(words)
    table = cosines(models.load("writer"), words.split())
    pairs = {(a, b): table[i, j] for i, a in enumerate(words.split()) for j, b in enumerate(words.split()) if i < j}
    (a, b), highest = max(pairs.items(), key=lambda pair: pair[1])
    page_text = words_on(finish(app.run()))
    assert f"“{a}” and “{b}” are most alike by all of their numbers: **{highest:.1f}** (1 is the same)" in page_text
    assert f"picked at random usually have about **{np.median([*pairs.values()]):.1f}**" in page_text


@pytest.mark.parametrize("centred", [False, True])
def test_the_first_answers_are_those_of_each_analogy_by_itself(centred):
    writer, triples = models.load("writer"), [ready[:3] for ready in READY]
    expected = [analogy(writer, *triple, 1, centred, words_only=True)["text"][0] for triple in triples]
    assert first_answers(writer, triples, centred, words_only=True) == expected


@pytest.mark.parametrize("level", state.LEVELS)
def test_the_first_analogy_succeeds_and_the_page_says_how_many_do(level):
    writer = models.load("writer")
    rows = analogy(writer, *READY[0][:3], 5, words_only=True)
    assert rows["text"][0].strip() == READY[0][3]
    assert rows["cosine"][0] > chance_of_analogy(writer, words_only=True).max()
    answers = [answer.strip() for answer in first_answers(writer, [ready[:3] for ready in READY], words_only=True)]
    right = sum(answer == ready[3] for answer, ready in zip(answers, READY, strict=True))
    page_text = words_on(open_link("space", f"space=Vocabulary&level={level}"))
    if level == "beginner":
        assert f"**{right} of the {len(READY)}**" in page_text and "“anx”" not in page_text
        assert f"The expected word, “{READY[0][3]}”, comes first" in page_text
        return
    assert f"**{right} of " in page_text and f"{name_of(READY[-1])} gives “{answers[-1]}”, not “{READY[-1][3]}”" in page_text


@pytest.mark.parametrize("ready", [READY[-1], READY[-4]], ids=name_of)
def test_beginners_read_where_a_ready_analogy_fails(ready):
    app = open_link("space", "space=Vocabulary&level=beginner")
    app.selectbox(key="analogy-ready").select(name_of(ready))
    page_text = words_on(finish(app.run()))
    answers = [text.strip() for text in analogy(models.load("writer"), *ready[:3], 5, words_only=True)["text"]]
    place = answers.index(ready[3]) + 1 if ready[3] in answers else 0
    assert place != 1
    later = f"The expected word, “{ready[3]}”, comes only in place {place}."
    missed = f"Here this fails: the expected word, “{ready[3]}”, is not in the list."
    assert (later if place else missed) in page_text


def test_a_ready_analogy_fills_the_boxes():
    app = open_link("space", "space=Vocabulary")
    app.selectbox(key="analogy-ready").select("king − man + woman")
    app = finish(app.run())
    assert [app.text_input(key=f"analogy-{key}").value for key in "abc"] == ["king", "man", "woman"]
    assert "Start at *king*, take away what is *man*" in words_on(app)
