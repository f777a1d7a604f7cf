"""What is drawn and said of the steps by which a word became pieces, for every kind of tokenizer and at every level."""

from __future__ import annotations

import re
from functools import cache, partial
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import models
from models.huggingface.text import TextTokens
from models.pieces.apart import pieces_of
from models.pieces.values import Lattice, Merges, Tries
from pages.inside.boards import pieces
from pages.inside.compose import PIECES
from pages.inside.pieces import recipes, sentences
from tests.grids import grid
from tests.models.huggingface.families import folder
from tests.models.pieces.test_pieces import KINDS
from ui import state
from ui.lexicon.marks import Words
from viz.views.pieces_view import Row, pieces_view

SEEN = (
    "GPT-2",
    "RoBERTa, prefixed",
    "Llama",
    "bytes for the unknown",
    "whole words first",
    "ModernBERT's",
    "CLIP",
    "prefix",
    "BERT",
)
SEEN += ("T5", "ALBERT's", "unigram with bytes", "words", "added tokens")
texts = st.lists(
    st.sampled_from(
        ["the", " cat", " unbelievable", "é", "猫", "😀", "\n", "  ", "<s>", "<mask>", "a" * 70, "z", "\0", "1234567"]
    )
    | st.characters(exclude_characters="{}"),
    max_size=6,
).map("".join)


@pytest.fixture(scope="session")
def make(tmp_path_factory):
    home = folder(tmp_path_factory.mktemp("steps"))
    return cache(lambda name: TextTokens(KINDS[name](home)))


def words_of(level: str) -> sentences.Say:
    """The words of this part at a level, without marks."""
    return partial(Words(level, lambda: False, None), PIECES)


@settings(max_examples=40, deadline=None)
@given(text=texts)
@example(text="the cat fine unbelievable 語 <mask>")
@pytest.mark.parametrize(
    ("name", "level"), grid(product(SEEN, state.LEVELS), [(name, state.LEVELS[i % 3]) for i, name in enumerate(SEEN)])
)
def test_each_step_has_something_to_see_and_a_sentence(make, name, level, text):
    for word in pieces_of(make(name), text).words:
        names, texts = sentences.steps(words_of(level), word)
        letters, rows = recipes.rows_of(word.steps, level != "beginner") if word.steps else (1, [Row([])])
        pieces_view(letters, rows, names, texts)  # which looks at every box
        steps = {row.step for row in rows} | {box.step for row in rows for box in row.boxes if box.step is not None}
        assert steps == set(range(len(names)))
        assert all(texts) and not any(re.search(r"\{[a-z_]+\}", step_text) for step_text in texts)


@settings(max_examples=40, deadline=None)
@given(text=texts)
@pytest.mark.parametrize("name", SEEN)
def test_the_last_row_of_the_result_has_the_pieces(make, name, text):
    for word in pieces_of(make(name), text).words:
        match word.steps:
            case Merges() as merges:
                last = recipes.merge_rows(merges, True)[-1]
                assert [(box.text, box.start, box.end) for box in last.boxes] == [
                    (piece.text, piece.start, piece.end) for piece in word.pieces
                ]
            case Tries(tries=tries) as lookups if len(tries) <= recipes.MOST:
                last = recipes.lookup_rows(lookups)[-1]
                assert [box.text for box in last.boxes] == [piece.text for piece in word.pieces]
            case Lattice() as lattice:
                rows = recipes.lattice_rows(lattice, True)
                best = next(row for row in rows if row.note.startswith("best way"))
                assert [box.text for box in best.boxes] == [piece.text for piece in lattice.ways[0].pieces]
                written = [row for row in rows if row.note == "as tokens"]
                assert not written or " ".join(box.text for box in written[0].boxes) == " ".join(
                    piece.text for piece in word.pieces
                )


def test_a_word_with_more_lookups_than_can_be_drawn_says_how_many_are_left_out(make):
    (word,) = pieces_of(make("BERT"), "c" * 60).words
    names, texts = sentences.steps(words_of("beginner"), word)
    assert len(word.steps.tries) == 60 * 61 // 2 and len(names) == recipes.MOST + 1
    assert f"Another {60 * 61 // 2 - recipes.MOST:,}" in texts[-1]


def test_what_is_counted_is_what_was_typed():
    for name in models.names():
        vocabulary = models.load_tokenizer(name)
        for text in recipes.PROBES.values():
            typed = recipes.typed_tokens(vocabulary, text)
            assert [token.id for token in typed] == vocabulary.tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("name", SEEN)
def test_there_are_numbers_to_take_away_of_every_word(make, name):
    for word in pieces_of(make(name), "the cat unbelievable 語 <mask>").words:
        for numbers in pieces.figures(word).values():
            assert numbers.values.size and all(
                len(numbers.names[axis]) == size for axis, size in zip(numbers.axes, numbers.values.shape, strict=True)
            )


@pytest.mark.parametrize("level", state.LEVELS)
def test_a_word_whose_parts_are_joined_nowhere_says_into_how_many_it_falls(level):
    (word,) = pieces_of(models.load_tokenizer("writer"), "😀").words
    parts = len(word.steps.letters)
    assert parts == len(word.pieces) > 1 and not word.steps.merges
    assert f"stays in {parts} " in sentences.steps(words_of(level), word)[1][0]
    (letter,) = pieces_of(models.load_tokenizer("writer"), "z").words
    assert "stays in" not in sentences.steps(words_of(level), letter)[1][0]
