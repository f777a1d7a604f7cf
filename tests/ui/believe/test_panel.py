"""The panel “Which to believe”: the same measures on both pages that have it, and verdicts that stand beside chance."""

from __future__ import annotations

import re

import numpy as np
import pytest

import models
from analysis import Question, explain, faithfulness
from pages.explain.request import TITLES
from tests.models.classifiers import saved
from tests.pages.opening import open_link, unmarked, words_on
from tests.serving import ROOT
from ui import state
from ui.believe.wording import distinct_orders, too_few
from ui.escaping import plain
from ui.lexicon.marks import sections
from ui.memory import loaded
from viz import percent

AS_FAR = "Random orders as far from 0 (for a verdict)"
TEXT = "The old woman gave the boy an apple because she liked the"
LINK = "text=The+cat+sat+on+the+mat+and+the+cat&level=expert"


@pytest.fixture(scope="module")
def tables():
    """What stands of each method on either page, for the same prediction."""
    pages = {page: open_link(page, f"{LINK}&{key}=Which+to+believe") for page, key in (("flow", "show"), ("explain", "explain"))}
    return {page: app.table[0].value for page, app in pages.items()}


@pytest.mark.thorough
def test_a_method_that_both_pages_have_does_equally_well_on_both(tables):
    both = ["Rollout", "Attention × gradient", "First 20 random orders: median (range)"]
    by_page = [AS_FAR, "Insertion − deletion, in points (0: chance)", "Verdict"]  # which hang on how many methods a page has
    flow, explain = (tables[page].loc[both].drop(columns=by_page).replace(r"\*", "", regex=True) for page in ("flow", "explain"))
    assert flow.equals(explain) and list(tables["explain"].index)[:-1] == list(TITLES.values())


@pytest.mark.parametrize("page", ["flow", "explain"])
def test_a_verdict_stands_only_where_nearly_all_random_orders_are_beaten_or_beat_it(tables, page):
    methods = tables[page].iloc[:-1]
    far, tries = np.array([re.findall(r"\d+", row)[:2] for row in methods[AS_FAR]], dtype=int).T
    allowed = np.array([0 if "none" in row else int(re.findall(r"\d+", row)[2]) for row in methods[AS_FAR]])
    assert set(tries) == {20 * len(methods)}
    gaps = methods["Insertion − deletion, in points (0: chance)"]
    for verdict, sign in (("better than chance", "+"), ("worse than chance", "−")):
        chosen = (methods["Verdict"] == verdict).to_numpy()
        assert (far[chosen] <= allowed[chosen]).all() and gaps[chosen].str.startswith(sign).all()
    neither = (methods["Verdict"] == "could be chance").to_numpy()
    assert (far[neither] > allowed[neither]).all(), "the verdict and the count beside it agree"
    assert methods["Verdict"]["Leave-one-out"] == "better than chance"


@pytest.mark.parametrize("level", state.LEVELS[1:])
def test_the_random_orders_of_the_picture_and_those_of_the_verdict_are_reconciled(level):
    methods = 7
    text = words_on(open_link("flow", f"{LINK.replace('expert', level)}&show=Which+to+believe"))
    assert f"of {20 * methods} random orders (these 20 and {20 * methods - 20} more)" in text


@pytest.mark.parametrize("level", state.LEVELS[1:])
def test_the_question_and_a_verdict_stand_open_and_every_other_number_is_folded(level):
    app = open_link("flow", f"{LINK.replace('expert', level)}&show=Which+to+believe")
    (fold,) = (fold for fold in app.expander if fold.label == "How this was tested")
    folded = {caption.value for caption in fold.caption}
    pair = [fold for fold in app.expander if re.fullmatch(r"All \d methods, one at a time", fold.label)]
    assert len(pair) == (level == "intermediate"), "which first has two methods"
    opened = [unmarked(caption.value) for caption in (*pair, app)[0].caption if caption.value not in folded]
    question = sections(ROOT / "ui" / "believe" / f"{level}.md")["question"]
    (verdict,) = (text for text in opened if "One text proves little" in text)
    assert opened.index(verdict) < opened.index(question) and re.search(r"\d+ random orders|\d+ of \d+ random orders", verdict)
    assert len(app.table) == 1 + len(pair) and not fold.table and fold.dataframe and not fold.proto.expanded


def evidence_of(text: str):
    """Return the evidence on all methods of page "Explain" for the likeliest prediction after a text."""
    model = models.load("writer")
    trace = model.trace(text)
    question = Question(model, trace, len(trace.tokens) - 1, int(trace.logits_at(-1).argmax()), keep_last=True)
    return faithfulness(question, {method: explain(question, method).scores for method in TITLES})


@pytest.mark.parametrize("text", [TEXT, "Tom had a ball, and his dog ran after the"])
def test_two_methods_that_disagree_stand_first_with_their_verdicts_beside_chance(text):
    app = open_link("flow", f"text={text.replace(' ', '+')}&level=intermediate&show=Which+to+believe")
    words, (pair, whole) = unmarked(words_on(app)), (table.value.replace(r"\*", "", regex=True) for table in app.table)
    names = list(pair.index[:-1])
    assert len(names) == 2 and "Gradient rollout" in names and pair.equals(whole.loc[pair.index, pair.columns])
    orders = re.search(r"Gradient rollout takes (“.*?”), .* for the most important tokens, and .*? (“.*?”),", words)
    assert orders and orders[1] != orders[2], "they begin with different tokens"
    better = list(pair.index[pair["Verdict"] == "better than chance"])
    starts = {0: "Believe neither yet:", 1: f"Believe {''.join(better)} sooner here:", 2: "Believe both here:"}
    assert starts[len(better)] in words
    gaps = pair["Difference in points (0: chance)"]
    far = rf"{re.escape(gaps['Gradient rollout'])} points by Gradient rollout, and .* Of 140 random orders, (\d+) come out as far"
    assert re.findall(far, words) == re.findall(r"as far from 0 as this one, above it or below; (\d+) did", words)
    assert f"Always in the text, and so in no order: “{plain('<|start|>')}”." in words
    (fold,) = (fold for fold in app.expander if fold.label.startswith("All 7 methods"))
    assert not fold.proto.expanded and len(fold.table) == 1 and len(fold.segmented_control) == 1


def test_an_expert_opens_the_view_on_a_method_that_is_better_than_chance():
    """Page "Flow" shows experts all of its methods at once, so no other method has been seen alone."""
    app = open_link("flow", f"{LINK}&show=Which+to+believe")
    table = app.table[0].value.iloc[:-1].drop(index="Leave-one-out")
    assert (table["Verdict"] == "better than chance").any()
    gaps = table["Insertion − deletion, in points (0: chance)"].str.replace("−", "-").astype(float)
    best = gaps[table["Verdict"] == "better than chance"].idxmax()
    assert f"**“{best}” is better than chance on this text:**" in unmarked(words_on(app))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("page", "link", "method"),
    [("flow", "show=Which+to+believe", "Gradient rollout"), ("explain", "explain=Which+to+believe", "Leave-one-out")],
)
def test_the_view_opens_on_the_method_that_the_page_showed_before(page, link, method):
    app = open_link(page, f"text={TEXT.replace(' ', '+')}&level=intermediate&{link}")
    text = unmarked(words_on(app))
    assert re.search(rf"\*\*“{method}” (is (better|worse) than|could be) chance on this text", text)
    other = {"flow": "Explain", "explain": "Flow"}[page]
    assert f"Page *{other}* puts" in text and "to the same test under “Which to believe”" in text


def test_the_sentence_has_the_numbers_of_the_analysis_and_says_why_the_test_is_strict():
    evidence, method = evidence_of(TEXT), "leave-one-out"
    better = [method for method in TITLES if evidence.verdict(method) == "better"]
    assert better and evidence.verdict(method) == "better"
    app = open_link("explain", f"text={TEXT.replace(' ', '+')}&level=intermediate&explain=Which+to+believe")
    text, curves = unmarked(words_on(app)), evidence.methods[method]
    assert f"**“{TITLES[method]}” is better than chance on this text.**" in text
    lower = sum(order.without > curves.without for order in evidence.random)
    assert f"to {percent(curves.without)} on average: lower than in {lower} of {len(evidence.random)} random orders" in text
    higher = sum(order.alone < curves.alone for order in evidence.random)
    assert f"it is {percent(curves.alone)}: higher than in {higher} of {len(evidence.random)}" in text
    assert f"of {len(TITLES)} methods, one soon looks good by luck alone" in text
    assert "too few for a verdict" not in text
    assert f"Better than chance: {plain(', '.join(TITLES[method] for method in better))}." in text
    table = app.table[0].value
    assert list(table["Verdict"].str.contains("better")[:-1]) == sorted(
        (evidence.verdict(method) == "better" for method in TITLES), reverse=True
    ), "the better ones are above"


@pytest.mark.thorough
def test_a_text_of_few_tokens_is_too_short_for_a_verdict():
    """Of four tokens that can be taken away there are 24 orders: the best and its reverse are more than a correction allows."""
    evidence = evidence_of("The cat sat on the")
    assert len(evidence.units) == 4 and distinct_orders(evidence) == 24 and too_few(evidence)
    assert not too_few(evidence_of(TEXT))


@pytest.mark.parametrize("level", state.LEVELS)
def test_every_level_says_how_little_one_text_proves_what_was_measured_and_what_luck_does(level):
    words = sections(ROOT / "ui" / "believe" / f"{level}.md")
    assert "One text proves little" in words["measures"]
    assert {"{points}", "{units}", "{dense}", "{widest}"} <= set(re.findall(r"\{\w+\}", words["some steps"]))
    for believe in ("believe", "believe masked"):
        assert {"{orders}", "{median}", "{least}", "{most}", "{verdict}"} <= set(re.findall(r"\{\w+\}", words[believe]))
    for verdict, count in (("better", "{ahead}"), ("worse", "{ahead}"), ("no verdict", "{far}")):
        assert {"{far}" if level == "intermediate" else count, "{tries}"} <= set(re.findall(r"\{\w+\}", words[verdict]))
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
