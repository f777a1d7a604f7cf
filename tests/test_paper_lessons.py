"""What the lessons about papers say of the shipped models, beside their questions: each claim is measured here."""

from __future__ import annotations

import re

import numpy as np
import pytest

import models
from analysis.answer_checks import answer, edits_of
from analysis.corpora import interval
from analysis.heads import head_scores
from analysis.in_context import LITTLE, MUCH, PASSAGES, context_gains, said_twice
from analysis.labels import head_labels
from analysis.samples import natural
from analysis.two_names import leads, looks_at_names
from analysis.verb_number import agreement_with_blanks, questions
from analysis.word_pairs import found_by_distance, found_by_heads, sentences
from tests.pages.opening import open_link, said
from ui.lessons import beside_papers, files

FOUR, OTHERS = "m4.5,m5.6,m5.0,m5.1", "m4.4,m5.2,m5.7,m5.4"  # heads of the writer that find what followed; others of their layers


@pytest.fixture(scope="module")
def writer():
    return models.load("writer")


@pytest.fixture(scope="module")
def filler():
    return models.load("filler")


def places(scores: np.ndarray, least: float) -> set[tuple[int, ...]]:
    return {tuple(place) for place in np.argwhere(scores >= least).tolist()}


def scores_of(model, kind: str) -> np.ndarray:
    return head_scores(model)[kind].to_numpy().reshape(model.info.layers, model.info.heads)


# ---------------------------------------------------------------- induction heads


def test_four_heads_of_the_writer_carry_what_it_makes_of_words_said_twice_and_four_others_do_not(writer):
    assert places(scores_of(writer, "induction"), 0.5) == {(4, 5), (5, 6), (5, 0), (5, 1)}
    first, second = said_twice(writer)
    assert (round(first, 1), round(second, 1)) == (11.1, 0.5)
    assert round(said_twice(writer, edits_of(OTHERS, writer))[1], 1) == 0.5
    assert said_twice(writer, edits_of(FOUR, writer))[1] > 0.9 * first


def test_three_heads_of_the_writer_look_most_at_the_token_before_and_three_others_are_no_helpers(writer):
    before = scores_of(writer, "previous")
    assert {tuple(np.unravel_index(place, before.shape)) for place in np.argsort(-before, axis=None)[:3]} == {
        (2, 1),
        (3, 4),
        (2, 4),
    }
    assert answer(writer, "share of a head", "a", at="induction", layer=4, head=5, without="m2.0,m3.0,m2.2").value == 84


def test_the_share_of_a_head_is_the_one_that_page_heads_shows(writer):
    shown = head_labels(writer, seeds=0).set_index(["layer", "head"])
    for at, layer, head in (("induction", 4, 5), ("previous", 2, 1)):
        assert answer(writer, "share of a head", "a", at=at, layer=layer, head=head).value == round(100 * shown[at][layer, head])


def test_a_long_text_helps_the_writer_less_than_published_and_less_without_the_four_heads(writer):
    assert (LITTLE, PASSAGES) == (50, 24) and min(MUCH, writer.room - 34) == 222
    whole, without = context_gains(writer), context_gains(writer, edits_of(FOUR, writer))
    (low, high), (lost, _) = interval(whole), interval(whole - without)
    assert (round(float(low), 2), round(float(high), 2)) == (0.04, 0.16)
    assert lost > 0 and without.mean() > 0, "a part goes, and something is left"


def test_the_word_on_the_page_of_the_lesson_about_induction_goes_with_the_four_heads_and_not_with_four_others(writer):
    text = files.find("paper-induction").steps[3].link["text"]
    of = {"token": "river"}
    whole, without, others = (
        float(answer(writer, "probability", text, **of, **more).value) for more in ({}, {"without": FOUR}, {"without": OTHERS})
    )
    assert round(whole) == 2 and without < 0.05 and others > 0.5 * whole


# ---------------------------------------------------------------- what BERT looks at


def test_the_share_of_a_layer_of_the_filler_is_the_mean_of_its_row_on_the_board(filler):
    rows = scores_of(filler, "first").mean(axis=1)
    shares = [answer(filler, "share on special tokens", "a", layer=layer).value for layer in range(len(rows))]
    assert [str(round(100 * float(row))) for row in rows] == [f"{float(str(share)):g}" for share in shares]


def test_the_filler_rests_on_its_start_token_far_more_than_an_even_share(filler):
    read = [filler.tokenize(text) for text in natural()]
    even = np.mean([sum(token.special for token in tokens) / len(tokens) for tokens in read])
    assert round(100 * even) == 3
    attention = filler.trace("The old gardener opened the heavy gate.").attention["self"]
    assert (attention[4][:, 0, 0] > 0.885).sum() == 6, "of eight heads"


def test_one_head_of_the_filler_looks_at_the_token_after_and_two_at_the_token_before(filler):
    assert [len(places(scores_of(filler, kind), 0.5)) for kind in ("next", "previous")] == [1, 2]


def test_heads_of_the_filler_find_nouns_and_verbs_beyond_any_distance(filler):
    assert len(sentences()) == 40 and sum(len(sentence.pairs["article"]) for sentence in sentences()) == 95
    assert [round(100 * found_by_distance(relation)[0]) for relation in ("article", "object")] == [46, 56]
    chosen, tried = (found_by_heads(filler, "article", sentences()[part::2]) for part in (0, 1))
    assert np.unravel_index(chosen.argmax(), chosen.shape) == (5, 1) and round(100 * tried[5, 1]) == 87
    objects = found_by_heads(filler, "object")
    assert np.unravel_index(objects.argmax(), objects.shape) == (3, 3)


# ---------------------------------------------------------------- rollout


def test_the_order_of_the_published_correlations_holds_on_the_filler_and_their_heights_do_not(filler):
    asked = questions(filler)
    assert len(asked) == 32
    each = {name: agreement_with_blanks(filler, name, asked=asked) for name in ("raw attention", "rollout", "attention flow")}
    means = {name: values.mean() for name, values in each.items()}
    assert means["raw attention"] < means["rollout"] < means["attention flow"] < 0.7
    assert all(0.04 < values.std() / np.sqrt(32) < 0.07 for values in each.values()), "about 0.05"
    layers = [agreement_with_blanks(filler, "raw attention", layer, asked=asked).mean() for layer in range(6)]
    assert np.argmax(layers) == 0 and round(layers[0], 2) == 0.56


# ---------------------------------------------------------------- name movers


def test_the_writer_leans_to_the_second_name_whoever_that_is_and_three_heads_are_the_whole_habit(writer):
    shares = [round(100 * float((leads(writer, order) > 0).mean())) for order in ("right name first", "repeated name first")]
    assert shares == [8, 56]
    first, second = (looks_at_names(writer, order) for order in ("right name first", "repeated name first"))
    assert [round(100 * float(looks[5, 1])) for looks in (first["right"], first["repeated"], second["right"])] == [12, 47, 49]
    three, others = (edits_of(changes, writer) for changes in ("m5.0,m5.1,m5.6", "m5.3,m5.4,m5.7"))
    orders = [leads(writer, order, three).mean() for order in ("right name first", "repeated name first")]
    assert np.abs(orders).max() < 0.2, "no name leads any more"
    assert round(100 * float((leads(writer, edits=others) > 0).mean())) == 32, "three others of the layer change nothing"


# ---------------------------------------------------------------- published numbers

PUBLISHED = [
    (name, number, row)
    for name in files.files()
    for number, step in enumerate(files.find(name).steps, 1)
    for row in (step.published.numbers if step.published else ())
]


def test_each_lesson_about_a_paper_has_its_numbers_with_their_source():
    papers = {name for name in files.files() if files.find(name).group == "Papers"}
    assert {name for name, *_ in PUBLISHED} == papers
    all_published = [step.published for name in papers for step in files.find(name).steps if step.published]
    assert all(
        re.search(r" et al\. 20|Zuidema 20", published.source) and published.differ.endswith((".", "?"))
        for published in all_published
    )


@pytest.mark.parametrize(
    "name, number, row", [row for row in PUBLISHED if row[2].answer], ids=lambda value: str(getattr(value, "of", value))
)
def test_what_a_published_number_is_held_against_is_measured_of_the_lessons_model(name, number, row):
    lesson = files.find(name)
    link = lesson.steps[number - 1].link
    measured = answer(models.load(lesson.model_at(number)), row.answer, link["text"], **row.given)
    assert re.search(r"\d", str(measured.value))


def test_a_number_that_is_only_written_in_another_way_waits_for_the_answer_too():
    """“2 of 48 heads” tells what “How many of the 48 heads?” asks for."""
    step = files.find("paper-bert").steps[2]
    assert step.published
    assert [beside_papers.asks_for(step, number) for number in step.published.numbers] == [True, False]


# ---------------------------------------------------------------- the list


def test_they_are_listed_under_a_heading_of_their_own_after_the_others():
    listed = said(open_link("lessons", ""))
    own = [lesson for name in files.files() if (lesson := files.find(name)).group == "Papers"]
    assert len(own) == 4 and {lesson.level for lesson in own} == {"expert"}
    others, _, after = listed.partition("## Papers")
    assert all(lesson.title in after and lesson.title not in others for lesson in own)
    assert files.find("find").title in others
