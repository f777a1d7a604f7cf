"""The table of what a writer knows: the measures, against a network that knows a few texts by heart and nothing else."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from torch import Tensor, nn

import models
from bin.model_card.knowledge import AIMS, Asked, Reader, Score, asked, behaviour_asked, compared_knowledge, lines
from models.training.corpus import train_tokenizer
from models.training.sentences import fill

TEXTS = ["The capital of France is Paris.", "How much is 2 + 2? It is 4.", "The keys near the door are old."]


class ByHeart(nn.Module):
    """Gives the next token of the text that begins like the row one nat more than any other."""

    config = SimpleNamespace(kind="decoder")

    def __init__(self, rows: list[list[int]], vocabulary: int):
        super().__init__()
        self.rows, self.vocabulary = rows, vocabulary

    def forward(self, ids: Tensor) -> Tensor:
        logits = torch.zeros(*ids.shape, self.vocabulary)
        for number, row in enumerate(ids.tolist()):
            for at in range(len(row)):
                known = next((text for text in self.rows if text[: at + 1] == row[: at + 1] and len(text) > at + 1), None)
                if known is not None:
                    logits[number, at, known[at + 1]] = 1.0
        return logits


@pytest.fixture
def reader():
    tokenizer = train_tokenizer([*TEXTS, "is are Lyon"] * 3, 330)
    rows = [[0, *tokenizer.encode(text).ids] for text in TEXTS]
    vocabulary = SimpleNamespace(tokenizer=tokenizer, start=0)
    return Reader(SimpleNamespace(network=ByHeart(rows, 330), vocabulary=vocabulary))


@pytest.mark.parametrize(
    ("asked_question", "judgement"),
    [
        (Asked("The capital of France is", (" Paris",)), (True, True)),
        (Asked("The capital of France is", (" Paris, too",)), (True, False)),
        (Asked("The capital of France is", (" Lyon", " Paris")), (True, True)),
        (Asked("The capital of France is", (" Lyon",)), (False, False)),
        (Asked("How much is 2 + 2? It is", (" 4",)), (True, True)),
    ],
    ids=["known", "begun alike", "one of two", "unknown", "a sum"],
)
def test_a_whole_answer_is_more_than_its_first_token(reader, asked_question, judgement):
    first, whole, better = reader.judge(asked_question)
    assert (first, whole) == judgement and math.isnan(better)


def test_right_is_compared_with_wrong(reader):
    question = "The keys near the door"
    assert reader.judge(Asked(question, (" are",), " is")) == (True, True, 1.0)
    assert reader.judge(Asked(question, (" is",), " are")) == (False, False, 0.0)
    score = reader.score([Asked(question, (" are",), " is"), Asked(question, (" is",), " are")])
    assert score == Score(2, 0.5, 0.5, 0.5)


def test_texts_of_different_lengths_are_asked_as_each_alone(reader):
    rows = [reader.ids(text) for text in TEXTS]
    together = reader.logits(rows)
    assert all(torch.equal(ours, reader.logits([row])[0]) for ours, row in zip(together, rows, strict=True))


def test_the_space_before_an_answer_belongs_to_it():
    sentence = fill("What is {s}? It is {a o}, I think.", {"s": "gold", "o": "metal"})
    expected = Asked("What is gold? It is a", (" metal", " thing"), " plant", ", I think.")
    assert asked(sentence, ["metal", "thing"], "plant") == expected
    assert asked(fill("{s}/{o}", {"s": "5", "o": "7"}), ["7"]) == Asked("5/", ("7",))


def test_a_model_that_fills_in_gets_a_mask_for_each_token_of_an_answer():
    reader = Reader(models.load("filler"))
    assert reader.fill_in(Asked("The capital of France is", (" Paris",), rest="."))[:2] == (True, True)
    assert reader.fill_in(Asked("The capital of France is", (" London", " Paris"), rest="."))[:2] == (True, True)
    assert reader.fill_in(Asked("The capital of France is", (" London",), rest="."))[:2] == (False, False)
    assert len(reader.ids(" Nairobi")) > 1
    assert reader.fill_in(Asked("The capital of Kenya is", (" Nairobi",), rest="."))[:2] == (True, True)


def test_a_card_compares_what_is_known_with_what_was_known():
    before = {"capital": {"count": 10, "first": 0.2, "whole": 0.1}, "agreement": {"count": 4, "whole": 0, "better": 0.5}}
    now = {"capital": {"count": 10, "first": 1.0, "whole": 0.9}, "agreement": {"count": 4, "whole": 0, "better": 1.0}}
    figures = {"measures_before": {"knowledge": before}, "measures": {"knowledge": now}}
    rows = compared_knowledge(figures).splitlines()[2:]
    assert rows == ["| capital | 10 | 10.0% | 90.0% |", "| agreement, right over wrong | 4 | 50.0% | 100.0% |"]


def test_behaviours_are_asked_alike_each_time_and_none_is_answered_in_its_question():
    for name in ("agreement", "pronouns"):
        questions = behaviour_asked(name, 40)
        assert questions == behaviour_asked(name, 40) and len({question.question for question in questions}) > 20
        assert all(question.wrong and question.wrong not in question.right for question in questions)


def test_the_table_has_an_aim_where_there_is_one():
    text = lines({name: Score(10, 0.5, 0.4, math.nan) for name in AIMS} | {"plural": Score(34, 1.0, 0.5, 0.25)})
    assert "| capitals | 10 | 80% | 50.0% | 40.0% |  |" in text and text.endswith("| plural | 34 |  | 100.0% | 50.0% | 25.0% |")
