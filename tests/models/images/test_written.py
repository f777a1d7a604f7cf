"""The written form of an image names the same image each time, and comes back from what it is written as."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import models
from models.images.digits import examples
from models.images.written import MOST, SIDE, WrittenImage, parse

PLACES = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=8, unique=True)


@given(st.sampled_from(["digit 3", "photo flower", "a picture.png", "without 1.2", f"drawn {'0f' * 32}"]), PLACES)
def test_parse_reads_what_str_writes(name, places):
    written = WrittenImage(name, tuple(sorted(places)))
    assert parse(str(written)) == written


@given(st.text(max_size=40))
def test_any_text_is_a_name(text):
    assert str(parse(text)) == text or parse(text).hidden


@given(st.lists(st.integers(0, MOST), min_size=SIDE**2, max_size=SIDE**2))
def test_a_drawing_has_the_levels_that_its_name_spells(levels):
    pixels = parse("drawn " + "".join(f"{level:x}" for level in levels)).pixels()
    np.testing.assert_array_equal(np.rint(pixels * MOST).astype(int).ravel(), levels)


def test_a_digit_is_the_example_of_that_digit_and_a_photograph_has_colours():
    for digit, example in enumerate(examples()):
        assert example.label == str(digit)
        np.testing.assert_array_equal(parse(f"digit {digit}").pixels(), example.image)
    assert parse("photo temple").pixels().shape[2] == 3


@pytest.mark.parametrize("name", ["digit 10", "digit x", "drawn 00", f"drawn {'g' * 64}", "photo cat", "", "digit 3 "])
def test_other_names_are_those_of_files(name):
    assert parse(name).is_file
    with pytest.raises(ValueError, match="names a file, or nothing"):
        parse(name).pixels()


def test_a_model_reads_a_written_image_and_covers_its_hidden_patches():
    model = models.load("digits")
    plain, hidden = model.trace("digit 4"), model.trace("digit 4 without 2.3 4.1")
    assert (plain.text, hidden.text) == ("digit 4", "digit 4 without 2.3 4.1")
    covered = [(token.row, token.column) for token in hidden.tokens if getattr(token, "covered", False)]
    assert covered == [(1, 2), (3, 0)]
    np.testing.assert_array_equal(model.trace(examples()[4].image).scores_at(0), plain.scores_at(0))
    by_hand = [token.cover() if getattr(token, "box", None) in [(4, 2, 6, 4), (0, 6, 2, 8)] else token for token in plain.tokens]
    np.testing.assert_allclose(model.logits_of([by_hand], 0)[0], hidden.scores_at(0), atol=1e-5)


def test_a_hidden_patch_outside_the_image_is_refused():
    with pytest.raises(ValueError, match="no patch in row 5, column 1: the image has 4 rows of 4 patches"):
        models.load("digits").trace("digit 4 without 5.1")
