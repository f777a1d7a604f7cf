"""A window stays in its text, however the text changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pages.attention.window import MOST, follow_text, one_text, valid

counts = st.integers(1, 5000)


@st.composite
def windows(draw):
    """A window, with the numbers of queries and keys."""
    edges, sizes = [], (draw(counts), draw(counts))
    for count in sizes:
        first = draw(st.integers(0, count - 1))
        edges += [first, draw(st.integers(first, min(count, first + MOST) - 1))]
    return tuple(edges), sizes


@given(windows(), counts, counts)
def test_a_window_goes_along_with_its_text(window, queries, keys):
    edges, before = window
    now = follow_text(edges, before, (queries, keys))
    assert valid(list(now), (queries, keys))
    for axis, (was, count) in enumerate(zip(before, (queries, keys), strict=True)):
        (first, last), (start, end) = edges[2 * axis : 2 * axis + 2], now[2 * axis : 2 * axis + 2]
        if last == was - 1:
            assert end == count - 1, "what was at the end stays at the end"
        elif last < count and (first, last) != (0, was - 1):
            assert (start, end) == (first, last), "what is elsewhere stays where it is"
        if (first, last) == (0, was - 1):
            assert end - start + 1 == min(count, MOST), "all stays all"
        else:
            assert end - start <= last - first


@given(windows())
def test_nothing_moves_in_a_text_that_stays(window):
    edges, before = window
    whole = [last - first + 1 == count for first, last, count in zip(edges[::2], edges[1::2], before, strict=True)]
    assert follow_text(edges, before, before) == edges or any(whole)


@given(windows())
def test_what_is_read_as_one_text_holds_the_end_of_the_window(window):
    first, last, *keys = one_text(window[0])
    assert keys == [first, last] and last == max(window[0]) and last - first < MOST


@pytest.mark.parametrize("window", [None, [0, 1], [0, 1, 2, "3"], [0, 10, 0, 1], [5, 4, 0, 1], [-1, 2, 0, 1], [0.5, 1, 0, 1]])
def test_what_no_window_is_is_left_alone(window):
    assert not valid(window, (10, 10))
