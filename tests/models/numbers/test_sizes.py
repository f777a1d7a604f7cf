"""Bytes and large numbers in words are rounded from the figure, and said as people say them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.numbers.sizes import count, size, size_of

UNITS = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
WORDS = {"": 1, "million": 1e6, "billion": 1e9, "trillion": 1e12}


@given(st.integers(1, 10**17))
def test_figures_in_words_are_rounded_from_the_figure(number):
    for words, units in ((size(number), UNITS), (count(number), WORDS)):
        figure, _, unit = words.partition(" ")
        assert "e" not in figure and float(figure.replace(",", "")) * units[unit] == pytest.approx(number, rel=0.006)


@pytest.mark.parametrize(
    ("number", "words"),
    [(70_144, "70,144"), (999_999, "1 million"), (70_600_000_000, "70.6 billion"), (10**16, "10,000 trillion")],
)
def test_numbers(number, words):
    assert count(number) == words


@pytest.mark.parametrize(
    ("done", "total", "words"), [(12e7, 548e6, "120 of 548 MB"), (1e9, 13.8e9, "1.0 of 13.8 GB"), (3, 9, "3 of 9 bytes")]
)
def test_how_much_is_there(done, total, words):
    assert size_of(int(done), int(total)) == words
