"""Each claim of the lessons about papers on the shipped models is measured, beside the questions that they ask.

`make test` measures a few of them; the others are left to `make test-all`."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest

import models
from analysis.answer_checks import answer, edits_of
from analysis.corpora import interval
from analysis.direct import logit_attribution
from analysis.heads import head_scores
from analysis.in_context import LITTLE, MUCH, PASSAGES, context_gains, said_twice
from analysis.labels import head_labels
from analysis.samples import natural
from analysis.two_names import NAMES, ORDERS, TEMPLATES, cases, ids_of, leads, likeliest, looks_at_names, read
from analysis.two_names import places as name_places
from analysis.verb_number import agreement_with_blanks, falls_of, questions
from analysis.verb_number import sentences as number_sentences
from analysis.word_pairs import found_by_distance, found_by_heads, sentences
from bin.model_card.knowledge import Reader, behaviour_asked
from models.edits import Cut
from tests.pages.opening import open_link, words_on
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


@pytest.mark.thorough
def test_four_heads_of_the_writer_carry_what_it_makes_of_words_said_twice_and_four_others_do_not(writer):
    assert places(scores_of(writer, "induction"), 0.5) == {(4, 5), (5, 6), (5, 0), (5, 1)}
    first, second = said_twice(writer)
    assert (round(first, 1), round(second, 1)) == (13.1, 0.3)
    assert round(said_twice(writer, edits_of(OTHERS, writer))[1], 1) == 0.3
    assert said_twice(writer, edits_of(FOUR, writer))[1] > 0.9 * first


@pytest.mark.thorough
def test_three_heads_of_the_writer_look_most_at_the_token_before_and_three_others_are_no_helpers(writer):
    before = scores_of(writer, "previous")
    assert {tuple(np.unravel_index(place, before.shape)) for place in np.argsort(-before, axis=None)[:3]} == {
        (2, 1),
        (3, 4),
        (2, 4),
    }
    assert answer(writer, "share of a head", "a", at="induction", layer=4, head=5, without="m2.0,m3.0,m2.2").value == 88


@pytest.mark.thorough
def test_the_share_of_a_head_is_the_one_that_page_heads_shows(writer):
    shown = head_labels(writer, seeds=0).set_index(["layer", "head"])
    for at, layer, head in (("induction", 4, 5), ("previous", 2, 1)):
        assert answer(writer, "share of a head", "a", at=at, layer=layer, head=head).value == round(100 * shown[at][layer, head])


@pytest.mark.thorough
def test_a_long_text_helps_the_writer_less_than_published_and_less_without_the_four_heads(writer):
    assert (LITTLE, PASSAGES) == (50, 24) and min(MUCH, writer.room - 34) == 222
    whole, without = context_gains(writer), context_gains(writer, edits_of(FOUR, writer))
    (low, high), (lost, _) = interval(whole), interval(whole - without)
    assert (round(float(low), 2), round(float(high), 2)) == (0.06, 0.16)
    assert lost > 0 and without.mean() > 0, "a part goes, and something is left"


def test_the_word_on_the_page_of_the_lesson_about_induction_goes_with_the_four_heads_and_not_with_four_others(writer):
    text = files.find("paper-induction").steps[3].link["text"]
    of = {"token": "river"}
    whole, without, without_others = (
        float(answer(writer, "probability", text, **of, **more).value) for more in ({}, {"without": FOUR}, {"without": OTHERS})
    )
    assert (round(whole), round(without), round(without_others)) == (36, 0, 18)


# ---------------------------------------------------------------- what BERT looks at


@pytest.mark.thorough
def test_the_share_of_a_layer_of_the_filler_is_the_mean_of_its_row_on_the_board(filler):
    rows = scores_of(filler, "first").mean(axis=1)
    shares = [answer(filler, "share on special tokens", "a", layer=layer).value for layer in range(len(rows))]
    assert [str(round(100 * float(row))) for row in rows] == [f"{float(str(share)):g}" for share in shares]


def test_the_filler_rests_on_its_start_token_far_more_than_an_even_share(filler):
    read = [filler.tokenize(text) for text in natural()]
    even = np.mean([sum(token.special for token in tokens) / len(tokens) for tokens in read])
    assert round(100 * even) == 3
    attention = filler.trace("The old gardener opened the heavy gate.").attention["self"]
    assert (attention[4][:, 0, 0] > 0.945).sum() == 6, "of eight heads"


@pytest.mark.thorough
def test_two_heads_of_the_filler_look_at_the_token_after_and_two_at_the_token_before(filler):
    assert [len(places(scores_of(filler, kind), 0.5)) for kind in ("next", "previous")] == [2, 2]


@pytest.mark.thorough
def test_heads_of_the_filler_find_nouns_and_verbs_beyond_any_distance(filler):
    assert len(sentences()) == 40 and sum(len(sentence.pairs["article"]) for sentence in sentences()) == 95
    assert [round(100 * found_by_distance(relation)[0]) for relation in ("article", "object")] == [46, 56]
    chosen, tried = (found_by_heads(filler, "article", sentences()[part::2]) for part in (0, 1))
    assert np.unravel_index(chosen.argmax(), chosen.shape) == (5, 1) and round(100 * tried[5, 1]) == 89
    objects = found_by_heads(filler, "object")
    assert np.unravel_index(objects.argmax(), objects.shape) == (3, 3)


# ---------------------------------------------------------------- rollout


@pytest.mark.thorough
def test_no_method_ranks_the_words_of_the_filler_much_better_than_chance_or_better_than_another(filler):
    asked = questions(filler)
    assert len(asked) == 32
    chance = 1.96 * np.sqrt(np.mean([1 / (len(question.units) - 1) for question in asked]) / len(asked))  # of Spearman's
    assert round(float(chance), 2) == 0.13
    each = [agreement_with_blanks(filler, name, asked=asked) for name in ("raw attention", "rollout", "attention flow")]
    each.append(agreement_with_blanks(filler, "raw attention", 0, asked=asked))
    assert [round(float(values.mean()), 2) for values in each] == [0.17, 0.16, 0.22, 0.13]
    assert all(0.05 < values.std() / np.sqrt(32) < 0.06 for values in each), "about 0.06"
    for values, others in (*combinations(each[:3], 2), (each[0], each[3])):
        low, high = interval(values - others)
        assert low < 0 < high


@pytest.mark.thorough
def test_one_word_moves_nearly_all_that_blanking_out_moves_in_the_sentences_about_number(filler):
    is_first, shares = [], []
    for sentence, question in zip(number_sentences(), questions(filler), strict=True):
        moves = np.abs(falls_of(question))
        subject = [question.trace.read[unit].text.strip() for unit in question.units].index(sentence.start.split()[1])
        is_first.append(moves.argmax() == subject)
        shares.append(moves[subject] / moves.sum())
    assert sum(is_first) == 31 and round(100 * float(np.mean(shares))) == 84


# ---------------------------------------------------------------- name movers

MOVERS, INHIBITORS = ((5, 0), (5, 1), (5, 3), (5, 6)), ((3, 5), (3, 6), (4, 0), (4, 2))  # heads of the writer


def at_means(model, heads) -> list:
    return edits_of(",".join(f"m{layer}.{head}" for layer, head in heads), model)


def others(heads) -> list[tuple[int, int]]:
    """Return all other heads of the same layers."""
    return [(layer, head) for layer in sorted({layer for layer, _ in heads}) for head in range(8) if (layer, head) not in heads]


def per_cents(shares: np.ndarray, heads) -> list[int]:
    return [round(100 * float(shares[head])) for head in heads]


@pytest.mark.thorough
def test_the_right_name_leads_in_both_orders_and_in_four_of_five_sentences_in_which_all_is_new(writer):
    assert [round(100 * float((leads(writer, order) > 0).mean())) for order in ORDERS] == [100, 98]
    assert round(100 * Reader(writer).score(behaviour_asked("giving")).whole) == 80


def test_four_heads_look_at_the_right_name_in_both_orders_and_write_nearly_half_of_its_lead(writer):
    looks = looks_at_names(writer)
    assert per_cents(looks["right"], MOVERS) == [76, 70, 72, 63] and per_cents(looks["repeated"], MOVERS) == [21, 27, 21, 32]
    for order in ORDERS:
        by_order = looks_at_names(writer, order)
        chooses = places(by_order["right"] - by_order["repeated"], 0.1) & places(by_order["right"], 0.5)
        assert set(MOVERS) <= chooses, "each of them, wherever the name stands"
    assert len({(4, 5), (5, 6), (5, 0), (5, 1)} & set(MOVERS)) == 3, "heads of the lesson on induction heads"


@pytest.mark.thorough
def test_of_the_lead_the_movers_write_nearly_half_and_the_inhibitors_hardly_anything(writer):
    writes = np.zeros((writer.info.layers, writer.info.heads))
    total, sentences_with_names = 0.0, cases(writer)
    for case in sentences_with_names:
        right, repeated = (ids_of(writer, name)[0] for name in (case.right, case.repeated))
        table = logit_attribution(writer, writer.trace(case.text, remember=False), right, against=repeated)
        total += table["contribution"].sum() / len(sentences_with_names)
        of_heads = table[(table["part"] == "attention") & table["head"].notna()]
        writes += of_heads["contribution"].to_numpy().reshape(writes.shape) / len(sentences_with_names)
    assert (round(total, 1), round(sum(writes[head] for head in MOVERS), 1)) == (16.7, 7.8)
    assert round(sum(writes[head] for head in INHIBITORS), 1) == 2.0


@pytest.mark.thorough
def test_without_the_movers_the_answer_is_gone_and_the_lead_is_not(writer):
    edits = at_means(writer, MOVERS)
    assert round(100 * float(likeliest(writer, edits=edits).mean())) == 10
    assert round(100 * float((leads(writer, edits=edits) > 0).mean())) == 98
    assert round(100 * float(likeliest(writer, edits=at_means(writer, others(MOVERS))).mean())) == 99
    assert round(100 * float(likeliest(writer).mean())) == 99
    heights = {without: above_other_names(writer, edits if without else []) for without in (False, True)}
    assert heights[True][0] < heights[False][0] and heights[True][1] < 0 < heights[False][1], "both fall, one below other names"


def above_other_names(model, edits) -> tuple[float, float]:
    """Return how far the logits of the right and of the repeated name are above the mean of the other names, on average."""
    all_ids = {name: ids_of(model, name)[0] for name in NAMES}
    heights = []
    for case, trace in read(model, "", edits):
        logits = trace.logits_at(-1)
        rest = np.mean([logits[id] for name, id in all_ids.items() if name not in (case.right, case.repeated)])
        heights.append([logits[all_ids[name]] - rest for name in (case.right, case.repeated)])
    right, repeated = np.mean(heights, axis=0)
    return float(right), float(repeated)


@pytest.mark.thorough
def test_without_the_inhibitors_the_movers_look_at_both_names_and_twelve_other_heads_cost_less(writer):
    assert per_cents(looks_at_names(writer)["again"], INHIBITORS) == [72, 99, 79, 100]
    edits = at_means(writer, INHIBITORS)
    looks = looks_at_names(writer, edits=edits)
    assert per_cents(looks["right"], MOVERS) == [49, 48, 48, 45] and per_cents(looks["repeated"], MOVERS) == [46, 46, 44, 44]
    assert round(100 * float((leads(writer, edits=edits) > 0).mean())) == 59
    twelve = others(INHIBITORS)
    assert len(twelve) == 12 and round(100 * float((leads(writer, edits=at_means(writer, twelve)) > 0).mean())) == 97


@pytest.mark.thorough
def test_the_writer_leaves_out_who_gives_whether_named_before_or_not(writer):
    cut_leads = []
    for case in cases(writer):
        trace = writer.trace(case.text, remember=False)
        first, again = name_places(trace, case.repeated)
        cut = writer.trace(case.text, edits=[Cut(again, first)], remember=False).logits_at(-1)
        right, repeated = (ids_of(writer, name)[0] for name in (case.right, case.repeated))
        cut_leads.append(cut[right] - cut[repeated])
    assert (np.array(cut_leads) > 0).mean() == (leads(writer) > 0).mean()
    looks = []
    for number, template in enumerate(TEMPLATES):
        first, second, third = (NAMES[(3 * number + step) % len(NAMES)] for step in (0, 1, 2))
        trace = writer.trace(template.format(first=first, second=second, again=third), remember=False)
        looks.append(trace.attention["self"][4][2, -1, name_places(trace, third)[0]])
    assert min(looks) > 0.95
    text = files.find("paper-names").steps[-1].link["text"]
    third_name = text.replace("Sue gave", "Ann gave")
    assert writer.trace(third_name).attention["self"][4][2, -1, 12] > 0.95


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


@pytest.mark.thorough
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
    listed = words_on(open_link("lessons", ""))
    own = [lesson for name in files.files() if (lesson := files.find(name)).group == "Papers"]
    assert len(own) == 4 and {lesson.level for lesson in own} == {"expert"}
    others, _, after = listed.partition("## Papers")
    assert all(lesson.title in after and lesson.title not in others for lesson in own)
    assert files.find("find").title in others
