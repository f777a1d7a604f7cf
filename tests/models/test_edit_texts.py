"""The text form of edits: links written before still open, every edit comes back from its text, and other texts are refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import models
from analysis.edit_numbers import fill
from models.edits import FORMS, PARTS, STACKS, Cut, Edit, Head, Part, Row, Skip, Stream, Temperature

OLD = {  # as links and lessons have had them
    "h2.3": Head(2, 3),
    "h0.0@encoder": Head(0, 0, kind="encoder"),
    "m2.3": Head(2, 3, mean="sample"),
    "m1.0@cross": Head(1, 0, mean="sample", kind="cross"),
    "r2.3": Head(2, 3, mean="other text"),
    "s2.3~1.5": Head(2, 3, 1.5),
    "s2.3~1": Head(2, 3, 1.0),
    "s2.3~999.999": Head(2, 3, 999.999),
    "t2.3~0.5": Temperature(2, 3, 0.5),
    "t0.1~2@decoder": Temperature(0, 1, 2.0, kind="decoder"),
    "c2.3.5.1": Cut(5, 1, 2, 3),
    "c1.1.150.140@cross": Cut(150, 140, 1, 1, kind="cross"),
    "x5.1": Cut(5, 1),
    "e2.3.5": Row(2, 3, 5, "even"),
    "o2.3.5.4": Row(2, 3, 5, "H4"),
    "f4": Skip(4, "feedforward"),
    "b3@encoder": Skip(3, kind="encoder"),
    "g4": Part(4, None, "sample", "feedforward"),
}
ALIKE = {
    "s2.3~0": "h2.3",
    "s2.3~1.50": "s2.3~1.5",
    "h02.3": "h2.3",
    "o2.3.5.04": "o2.3.5.4",
}  # old texts, as they are written now


@pytest.mark.parametrize("text", OLD)
def test_the_text_of_an_old_link_is_its_edit_and_is_written_as_before(text):
    assert Edit.parse(text) == OLD[text] and str(OLD[text]) == text


@pytest.mark.parametrize("text", ALIKE)
def test_an_edit_has_one_text_however_it_was_written(text):
    assert str(Edit.parse(text)) == ALIKE[text]


def test_every_form_is_written_as_its_example():
    assert [str(Edit.parse(form.example)) for form in FORMS] == [form.example for form in FORMS]


finite = {"allow_nan": False, "allow_infinity": False}
count, position = st.integers(0, 10**6), st.integers(-(10**6), 10**6)
places = st.none() | position
shapes = arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
numbers = arrays.arrays(np.float32, shapes, elements=st.floats(width=32, **finite))
values = st.floats(**finite) | st.integers(-9, 9) | st.floats(width=32, **finite).map(np.float32)
kinds = st.sampled_from(["self", *STACKS])
edits = st.one_of(
    st.builds(Head, count, count, values, kind=kinds),
    st.builds(Head, count, count, mean=numbers | st.sampled_from(["sample", "other text"]), kind=kinds),
    st.builds(Cut, places, places, st.none() | count, st.none() | count, kind=kinds),
    st.builds(Temperature, count, count, values, kind=kinds),
    st.builds(Row, count, count, position, numbers | st.just("even") | count.map("H{}".format), kind=kinds),
    st.builds(Skip, count, st.sampled_from(PARTS), kind=kinds),
    st.builds(Part, count, places, numbers, st.sampled_from(PARTS[1:]), kind=kinds),
    st.builds(Part, count, places, st.just("sample"), st.just("feedforward"), kind=kinds),
    st.builds(Stream, count, places, value=numbers, kind=kinds),
    st.builds(Stream, count, places, add=numbers, kind=kinds),
)


@given(edits)
def test_every_edit_comes_back_from_its_text(edit):
    text = str(edit)
    assert Edit.parse(text) == edit and hash(Edit.parse(text)) == hash(edit)
    assert str(Edit.parse(text)) == text and "," not in text  # commas separate the changes in a link


def test_the_property_is_about_every_class_of_edits():
    assert {form.edit for form in FORMS} == set(Edit.__subclasses__())


@given(st.text(alphabet="hsmrtxceowbfagpvdq0123456789.~@_:*-", max_size=20) | st.text(max_size=20))
def test_any_other_text_is_refused_with_a_sentence_that_says_what_it_was(text):
    try:
        edit = Edit.parse(text)
    except ValueError as error:
        assert re.match("“.*” (is not an edit|names “.*” after the @)\\. ", str(error)) and str(error).endswith((".", ")"))
    else:
        assert Edit.parse(str(edit)) == edit


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "begins with one of the letters h, s, m"),
        ("q1.2", "begins with one of the letters"),
        ("c1.2", "Write it like c2.3.5.1 "),
        ("s2.3", "Write it like s2.3~1.5 "),
        ("h2.3~1", "Write it like h2.3 "),
        ("h2.3@self", "names “self” after the @. Write encoder, decoder or cross there."),
        ("s2.3~much", "“much” is not a number."),
        ("s2.3~nan", "“nan” is not a number."),
        ("t2.3~1e999", "“1e999” is not a number."),
        ("o2.3.5.-1", "Write it like o2.3.5.4 "),
        ("m2.3~0.5__1", "“” is not a number."),
        ("m2.3~2x2:1_2_3", "3 numbers do not fill an array of 2x2."),
        ("m2.3~2xx2:1_2", "“2xx2” is not the shape of an array, such as 2x3."),
        ("v1.0~1e300", "value holds what is no number"),
    ],
)
def test_a_text_that_is_no_edit_is_told_why(text, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Edit.parse(text)


def test_an_edit_that_no_model_allows_has_the_text_of_python():
    for edit in (Skip(1, "tail"), Stream(1, 2), Head(1, 2, float("nan")), Head(1, 2, kind="tail")):
        assert str(edit) == repr(edit)


def test_numbers_that_an_edit_names_are_put_in_before_a_model_makes_it():
    model = models.load("writer")
    trace = model.trace("The dog saw the dog")
    for edit in (Head(2, 3, mean="sample"), Row(2, 3, 4, "H1"), Part(4, None, "sample", "feedforward")):
        with pytest.raises(ValueError, match="Put in the numbers first"):
            model.trace("The dog saw the dog", edits=[edit])
        assert model.trace("The dog saw the dog", edits=[fill(edit, model, trace)]).edits == (fill(edit, model, trace),)
        assert fill(fill(edit, model, trace), model) == fill(edit, model, trace)
    assert fill(Skip(4), model) == Skip(4)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (Head(9, 1, mean="sample"), "there is no layer 9"),
        (Row(2, 1, 4, "H9"), "there is no head 9"),
        (Row(2, 1, 40, "even"), "There is no query 40"),
        (Row(2, 1, -40, "even"), "There is no query -40"),
        (Head(2, 1, mean="other text"), "no other text"),
        (Part(4, None, "sample"), "Only the means of heads and of feed-forwards"),
        (Part(9, None, "sample", "feedforward"), "there is no layer 9"),
    ],
)
def test_numbers_that_cannot_be_had_are_refused_with_a_sentence(edit, sentence):
    model = models.load("writer")
    with pytest.raises(ValueError, match=sentence):
        fill(edit, model, model.trace("The dog saw the dog"))


def test_a_mean_takes_the_place_of_a_scale_so_that_two_edits_that_say_the_same_are_equal():
    assert Head(2, 3, 0.5, mean=[1.0]) == Head(2, 3, mean=[1.0])
