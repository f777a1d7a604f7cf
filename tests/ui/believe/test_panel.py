"""The panel “Which to believe”: the same measures on both pages that have it, and verdicts that stand beside chance."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pages.explain.request import TITLES
from tests.models.classifiers import saved
from tests.pages.opening import open_link, unmarked, words_on
from tests.serving import ROOT
from ui import state
from ui.lexicon.marks import sections
from ui.memory import loaded

LINK = "text=The+cat+sat+on+the+mat+and+the+cat&level=expert"


@pytest.fixture(scope="module")
def tables():
    """What stands of each method on either page, for the same prediction."""
    pages = {page: open_link(page, f"{LINK}&{key}=Which+to+believe") for page, key in (("flow", "show"), ("explain", "explain"))}
    return {page: app.table[0].value for page, app in pages.items()}


@pytest.mark.thorough
def test_a_method_that_both_pages_have_does_equally_well_on_both(tables):
    both = ["Rollout", "Attention × gradient", "First 20 random orders: median (range)"]
    by_page = ["Random orders it beats", "Verdict"]  # which hang on how many methods a page has
    flow, explain = (tables[page].loc[both].drop(columns=by_page).replace(r"\*", "", regex=True) for page in ("flow", "explain"))
    assert flow.equals(explain) and list(tables["explain"].index)[:-1] == list(TITLES.values())


@pytest.mark.parametrize("page", ["flow", "explain"])
def test_a_verdict_stands_only_where_nearly_all_random_orders_are_beaten_or_beat_it(tables, page):
    methods = tables[page].iloc[:-1]
    beaten, tries = np.array([row.split(" of ") for row in methods["Random orders it beats"]], dtype=int).T
    assert set(tries) == {20 * len(methods)}
    better, worse = ((methods["Verdict"] == name).to_numpy() for name in ("better than chance", "worse than chance"))
    assert (
        methods["Verdict"][~better & ~worse].str.fullmatch(r"no verdict \(\d+ of \d+ are as far from the average\)").all()
        and better[list(methods.index).index("Leave-one-out")]
    )
    least = 0.05 / len(methods)  # what the first of some methods needs, of one side or both
    assert (1 - (beaten / tries)[better] <= least + 1e-9).all() or (~better).all()
    assert ((beaten / tries)[worse] <= 0.05).all()


@pytest.mark.parametrize("level", state.LEVELS[1:])
def test_the_random_orders_of_the_picture_and_those_of_the_verdict_are_reconciled(level):
    methods = 7
    text = words_on(open_link("flow", f"{LINK.replace('expert', level)}&show=Which+to+believe"))
    assert f"of {20 * methods} random orders (these 20 and {20 * methods - 20} more)" in text


@pytest.mark.parametrize("level", state.LEVELS[1:])
def test_the_question_and_a_verdict_stand_open_and_every_other_number_is_folded(level):
    app = open_link("flow", f"{LINK.replace('expert', level)}&show=Which+to+believe")
    (fold,) = (fold for fold in app.expander if fold.label == "The numbers behind it")
    folded = {caption.value for caption in fold.caption}
    opened = [unmarked(caption.value) for caption in app.caption if caption.value not in folded]
    question = sections(ROOT / "ui" / "believe" / f"{level}.md")["question"]
    (verdict,) = (text for text in opened if re.search(r"\d+ of \d+ random orders", text))
    assert opened.index(verdict) < opened.index(question) and "One text proves little" in verdict
    assert fold.table and fold.dataframe and len(app.table) == len(fold.table) and not fold.proto.expanded


@pytest.mark.parametrize("level", state.LEVELS)
def test_every_level_says_how_little_one_text_proves_what_was_measured_and_what_luck_does(level):
    words = sections(ROOT / "ui" / "believe" / f"{level}.md")
    assert "One text proves little" in words["measures"]
    assert {"{points}", "{units}", "{dense}", "{widest}"} <= set(re.findall(r"\{\w+\}", words["some steps"]))
    for believe in ("believe", "believe masked"):
        assert {"{orders}", "{median}", "{least}", "{most}", "{verdict}"} <= set(re.findall(r"\{\w+\}", words[believe]))
    for verdict, count in (("better", "{ahead}"), ("worse", "{ahead}"), ("no verdict", "{far}")):
        assert count in words[verdict] and "{tries}" in words[verdict]
    assert {
        "order",
        "every step",
        "saturates stays",
        "saturates falls",
        "takes long",
        "no chance",
        "at random",
        "gone",
        "come",
    } <= words.keys()


@pytest.mark.parametrize("level", state.LEVELS)
def test_a_number_has_no_chance_that_could_fall(level, tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MODEL_DIRS", str(tmp_path))
    folder = saved("BERT, a number", tmp_path / "number")
    loaded.model(str(folder))
    for page, key in (("flow", "show"), ("explain", "explain")):
        app = open_link(page, f"{LINK}&level={level}&model={folder}&{key}=Which+to+believe")
        if level != "beginner":  # which has no such view
            assert sections(ROOT / "ui" / "believe" / f"{level}.md")["no chance"] in words_on(app) and not app.table
