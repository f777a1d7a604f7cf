"""The measurements of lessons about papers, on models whose answer is known."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import models
from analysis.answer_checks import answer, edits_of, ordinal
from analysis.attribution_tests import Question
from analysis.in_context import context_gains, said_twice
from analysis.paper_answers import among
from analysis.true_answers import ANSWERS
from analysis.two_names import ORDERS, cases, leads, likeliest
from analysis.verb_number import agreement_with_blanks, questions, sentences
from analysis.word_pairs import MarkedSentence, found_by_distance, found_by_heads, join_words
from analysis.word_pairs import sentences as marked
from models.edits import Head
from tests.analysis.planted import HEADS, planted


def test_words_said_twice_surprise_no_more_where_a_head_was_planted_for_that_and_as_before_without_it():
    model = planted()
    first, second = said_twice(model)
    new, again = said_twice(model, [Head(*HEADS["induction"])])
    assert second < 0.01 * first and again > 0.9 * new


def test_a_head_that_looks_at_the_token_before_finds_what_stands_before_and_nothing_else():
    words = tuple("abcdefgh")  # a token each, with spaces between
    sentence = MarkedSentence(words, {"article": ((2, 1), (4, 3)), "object": ((3, 5), (5, 4))})
    model = models.load("writer")
    shares = {relation: found_by_heads(model, relation, [sentence]) for relation in ("article", "object")}
    assert shares["article"][2, 1] == 1 and shares["object"][2, 1] == 0.5, "L2 H1 of the writer"
    assert shares["object"].max() <= 0.5, "a decoder never looks ahead"


def test_marked_pairs_are_articles_with_what_follows_and_objects_with_what_came_before():
    for sentence in marked():
        text, spans = join_words(sentence.words)
        assert [text[start:end] for start, end in spans] == list(sentence.words) and "  " not in text and not text.endswith(" .")
        assert all(sentence.words[word].lower() in ("a", "an", "the") and goal > word for word, goal in sentence.pairs["article"])
        assert all(goal < word for word, goal in sentence.pairs["object"])
    share, step = found_by_distance("object")
    distances = Counter(goal - word for sentence in marked() for word, goal in sentence.pairs["object"])
    assert (share, step) == (distances[step] / distances.total(), distances.most_common(1)[0][0])


def test_sentences_about_number_are_balanced():
    all_sentences = sentences()
    assert (
        len({(sentence.start, sentence.end) for sentence in all_sentences}) == 32
        and sum(sentence.right for sentence in all_sentences) == 16
    )
    same = [sentence.start.split()[1].endswith("s") == sentence.start.split()[-1].endswith("s") for sentence in all_sentences]
    assert sum(same) == 16, "half of the nouns in between mislead"


def test_a_method_is_asked_as_the_question_is_and_direction_is_another_question():
    model = models.load("filler")
    all_questions = questions(model)
    unsigned, signed = (agreement_with_blanks(model, "rollout", signed=by_sign, asked=all_questions) for by_sign in (False, True))
    assert unsigned.shape == (32,) and np.abs(unsigned).max() <= 1 and not np.allclose(unsigned, signed)
    assert all(question.against != question.token for question in all_questions)
    first = [agreement_with_blanks(model, method, 0, asked=all_questions) for method in ("rollout", "raw attention")]
    assert first[0] == pytest.approx(first[1]), "through one layer alone they rank alike"


@pytest.mark.thorough
def test_the_sentences_are_blanked_out_once_for_a_model_however_many_methods_are_asked(monkeypatch):
    model = models.load("filler")
    correlations = agreement_with_blanks(model, "rollout")
    assert correlations == pytest.approx(agreement_with_blanks(model, "rollout", asked=questions(model)))
    monkeypatch.setattr(Question, "probabilities", None)
    assert (agreement_with_blanks(model, "rollout") == correlations).all()
    assert not np.allclose(agreement_with_blanks(model, "raw attention"), correlations)


@pytest.mark.thorough
def test_every_two_names_come_in_both_orders_and_only_their_places_differ():
    model = models.load("writer")
    all_cases = cases(model)
    assert Counter(case.order for case in all_cases) == dict.fromkeys(ORDERS, 48)
    for case in all_cases:
        assert case.text.count(case.repeated) == 2 and case.text.count(case.right) == 1
        first = min((case.right, case.repeated), key=case.text.index)
        assert (first == case.right) == (case.order == ORDERS[0])
    all_leads = np.concatenate([leads(model, order) for order in ORDERS])
    assert sorted(all_leads) == pytest.approx(sorted(leads(model)), abs=1e-4)
    is_likeliest = likeliest(model)
    assert is_likeliest.any() and (leads(model)[is_likeliest] > 0).all(), (
        "what is likelier than all tokens is likelier than the other name"
    )


def test_a_number_is_offered_beside_the_others_the_smallest_first():
    assert (
        among(0.3649, (-0.12, 0.71), 2).choices == ("−0.12", "0.36", "0.71") and among(0.3649, (-0.12, 0.71), 2).value == "0.36"
    )
    assert among(0.4, (0.4, 0.15), 2).choices == ("0.15", "0.40"), "where it is the published one, it stands once"
    assert among(32.29, (50, 99.3), 0).choices == ("32", "50", "99.3"), "a published number is not rounded"
    free_answer = among(83.9, (), 0)
    assert free_answer.value == 84 and free_answer.accepts(85.1) and not free_answer.accepts(80 - 1)


WRONG = [
    ("gain from context", "filler", {}, "does not go on with a text"),
    ("right name leads", "writer", {"order": "any"}, "There is no order “any”."),
    ("attention to a name", "writer", {"layer": 9, "head": 1, "to": "right"}, "There is no L9 H1"),
    ("head that finds", "writer", {"relation": "verb"}, "There are no pairs for “verb”."),
    ("how often it finds", "translator", {"relation": "object"}, "has two stacks"),
    ("agrees with blanks", "filler", {"method": "guess"}, "There is no method “guess”."),
    ("verb agrees", "translator", {}, "predicts no word"),
    ("heads that look", "writer", {"at": "away"}, "A head does not look “away”."),
    ("heads that look", "translator", {"at": "first", "kind": "cross"}, "Choose encoder or decoder."),
    ("head that looks most", "filler", {"at": "layer"}, "A head does not look “layer”."),
    ("head that looks most", "filler", {"at": "first", "kind": "decoder"}, "Choose self."),
    ("greatest score", "filler", {"layer": 99, "head": 0, "from": "cat", "to": "mat"}, "There is no L99 H0"),
    ("greatest score", "filler", {"layer": 0, "head": 99, "from": "cat", "to": "mat"}, "There is no L0 H99"),
    ("greatest score", "filler", {"layer": -1, "head": 0, "from": "cat", "to": "mat"}, "There is no L-1 H0"),
]


@pytest.mark.parametrize("name, model, given, words", WRONG)
def test_where_there_is_no_answer_a_sentence_says_why(name, model, given, words):
    assert name in ANSWERS
    with pytest.raises(ValueError, match=words):
        answer(models.load(model), name, "The cat [MASK] on the mat.", **given)


def test_the_word_that_matters_most_is_one_of_the_text_or_of_what_was_said():
    word_answer = answer(models.load("translator"), "word that matters most", "I am", "Je")
    assert word_answer.value in word_answer.choices and word_answer.value in ("I", "am", "Je")


def test_a_change_that_no_lesson_can_ask_about_is_told_and_a_mean_is_that_of_the_page():
    model = models.load("writer")
    (edit,) = edits_of("m4.5", model)
    assert isinstance(edit, Head) and edit.mean.shape == (model.info.d_model // model.info.heads,)
    for change, complaint in (("m9.1", "there is no layer 9"), ("e1.2.3", "there is none here"), ("q1.2", "is no change")):
        with pytest.raises(ValueError, match=complaint):
            edits_of(change, model)


def test_a_model_of_a_short_context_has_no_long_one():
    class Short:
        info, tokenize, room = models.load("writer").info, models.load("writer").tokenize, 80

    with pytest.raises(ValueError, match="too few tokens at a time"):
        context_gains(Short())


def test_which_of_several_equal_words_is_meant_is_counted_as_people_count():
    numbers = ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "20th", "21st", "22nd", "23rd", "101st", "111th"]
    assert [ordinal(int(number[:-2])) for number in numbers] == numbers
    text = "stone letter window stone letter"
    right = answer(models.load("writer"), "most attended token", text, layer=2, head=1)  # the token before
    assert right.value == "stone (2nd)" and "letter (2nd)" in right.choices, "the text has two of each"
