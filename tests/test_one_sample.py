"""One sample for each quantity: what a head does is the same number on every page, in lessons, in notebooks and on the cards."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pandas as pd
import pytest

import models
from analysis import head_labels, head_scores
from analysis.true_answers import answer
from models.catalog import WEIGHTS
from tests.grids import grid
from tests.pages.opening import open_link, words_on
from ui.lessons import files
from ui.memory.favourites import favourite
from viz import percent

NAMES = ("writer", "filler")


@cache
def labels(name: str) -> pd.DataFrame:
    return head_labels(models.load(name), seeds=0)


@pytest.mark.parametrize("name", NAMES)
def test_scores_are_the_numbers_of_the_labels(name):
    scores = head_scores(models.load(name))
    for kind in scores.columns[2:]:
        np.testing.assert_array_equal(scores[kind], labels(name)[kind])


@pytest.mark.parametrize("name", grid(NAMES, ["writer"]))
def test_the_head_that_a_newcomer_meets_has_the_share_of_page_heads(name):
    first = favourite(models.load(name))
    assert first.score == labels(name)["previous"].max()
    assert percent(first.score) in words_on(open_link("heads", f"model={name}&level=expert&text=The+cat&layer=2&head=1"))


@pytest.mark.parametrize("name", NAMES)
def test_a_card_says_what_page_heads_says(name):
    measures = json.loads((WEIGHTS / name / "figures.json").read_text(encoding="utf-8"))["measures"]
    table = labels(name).set_index(["layer", "head"])
    for kind in {"previous", "next", "first", "induction"} & measures.keys():
        best = measures[kind]
        assert best["score"] == pytest.approx(table.loc[(best["layer"], best["head"]), kind], abs=1e-4) == table[kind].max()


ASKED = {"share of a head", "share on special tokens", "head that looks most", "heads that look", "has an induction head"}


def questions() -> list:
    """Return what lessons ask of heads, but for models that are changed first; `make test` has every fourth."""
    lessons = [files.find(name) for name in sorted(files.files())]
    every = [(lesson, number) for lesson in lessons for number in range(1, len(lesson.steps) + 1)]
    asked = [
        (lesson, number, question)
        for lesson, number in every
        if (question := lesson.steps[number - 1].question) and question.answer in ASKED and "without" not in question.given
    ]
    return [
        pytest.param(
            lesson.model_at(number),
            question.answer,
            question.given,
            id=f"{lesson.name}-{number}",
            marks=pytest.mark.thorough if place % 4 else (),
        )
        for place, (lesson, number, question) in enumerate(asked)
    ]


@pytest.mark.parametrize(("name", "asked", "given"), questions())
def test_what_a_lesson_asks_is_answered_by_the_board_of_page_heads(name, asked, given):
    table, answer_value = labels(name), answer(models.load(name), asked, "a", **given).value
    at = given.get("at", "")
    if asked == "share of a head":
        row = table.set_index(["layer", "head"]).loc[(given["layer"], given["head"])]
        assert float(answer_value) == round(100 * row[at])
    elif asked == "share on special tokens":
        assert float(answer_value) == round(100 * table[table["layer"] == given["layer"]]["first"].mean())
    elif asked == "head that looks most":
        best = table.loc[table[at].idxmax()]
        assert answer_value == f"L{best['layer']} H{best['head']}"
    elif asked == "heads that look":
        assert answer_value == (table[at] >= 0.5).sum()
    else:
        assert answer_value == (table["induction"].max() >= given.get("least", 0.5))
