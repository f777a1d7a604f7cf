"""Answers and characters that a model's likeliest tokens spell."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest

import models
from analysis.merging import characters as groups_of
from analysis.merging import whole_characters
from models.generation.answer import answers, characters, whole
from models.generation.strategy import Strategy
from models.tokens import Token, bytes_of
from tests.grids import grid
from ui.memory import loaded

NAMES = ["My name is Müller.", "My name is Jürgen and I live in Zürich.", "I am tired."]


@pytest.mark.parametrize("text", grid(NAMES, [*NAMES][:1]))
def test_an_answer_is_what_its_tokens_spell_together_at_each_step(text):
    model = models.load("translator")
    steps = list(answers(model, text))
    *_, last = model.generate(text, Strategy(), 60)
    assert steps[-1] == last.text.lstrip(" ") == loaded.go_on("translator", text)
    assert not any("<0x" in step or "\ufffd" in step for step in steps)
    assert all(longer.startswith(shorter) for shorter, longer in pairwise(steps))
    for name in re.findall("[A-Z]\\w*ü\\w*", text):
        assert name in steps[-1]


def test_an_answer_goes_on_from_what_is_begun():
    model = models.load("translator")
    *_, whole_answer = answers(model, NAMES[0])
    begun = whole_answer[: whole_answer.index("ü")]
    assert [*answers(model, NAMES[0], begun)][-1] == whole_answer
    assert next(iter(answers(model, NAMES[0], begun))) == begun + "ü"


@pytest.mark.parametrize("name", ["writer", "translator"])
def test_a_part_of_a_character_brings_the_others_or_nothing(name):
    model = models.load(name)
    parts = [id for id in range(model.info.vocabulary) if model.vocabulary.text(id)[1]]
    generator = np.random.default_rng(0)
    completed = 0
    for id in generator.choice(parts, 24, replace=False).tolist():
        begins = bytes_of(*model.vocabulary.text(id))
        spelt = characters(model, "My name is M", id, "Je m'appelle M" if name == "translator" else "")
        assert spelt.encode().startswith(begins) if spelt else True
        first = begins.lstrip(b" ")[0]
        assert bool(spelt) == (0xC2 <= first <= 0xF4), "a byte that begins a character"
        assert len(spelt.strip(" ")) <= 1
        completed += bool(spelt)
    assert completed > 3
    assert characters(model, "A", 400) == model.token_text(400), "one that is whole brings itself"


def test_tokens_that_end_inside_a_character_are_not_whole():
    model = models.load("translator")
    ids = [token.id for token in model.tokenize("Mü") if not token.special]
    assert [whole(model, ids[:count]) for count in range(1, len(ids) + 1)] == [True, False, True]


def test_parts_of_one_character_are_one_and_of_two_are_two():
    def part(byte: int) -> Token:
        return Token(byte, f"<0x{byte:02X}>", 0, 1, fragment=True)

    tokens = [Token(1, "M", 0, 1), *map(part, "üß🐕".encode()), Token(2, "<0xC3>", 3, 9), *map(part, b"\xc3\xc3\xbc")]
    assert groups_of(tokens) == [[0], [1, 2], [3, 4], [5, 6, 7, 8], [9], [10], [11, 12]]
    texts = [token.text for token in whole_characters(tokens)[0]]
    assert texts[:5] == ["M", "ü", "ß", "🐕", "<0xC3>"], "what somebody typed is no byte"
