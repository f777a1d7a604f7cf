"""The view "BertViz" of page Attention: the sentences above BertViz's own picture."""

from __future__ import annotations

import pytest

import models
from analysis import head_summary
from tests.pages.levels import flat, read
from tests.pages.opening import open_link
from viz import percent


@pytest.mark.parametrize(("layer", "head", "most"), [(2, 1, "previous"), (0, 4, "itself"), (5, 6, "first")])
def test_above_the_picture_stands_where_the_head_looks_most_and_what_the_squares_are(layer, head, most):
    text = "Tom had a ball, and his dog ran after the"
    shares = head_summary(models.load("writer").trace(text).attention["self"][layer][head])
    even = sum(1 / (query + 1) for query in range(1, 12)) / 11
    link = f"view=BertViz&level=intermediate&layer=L{layer}&head=H{head}&text={text.replace(' ', '+')}"
    words = read(open_link("attention", link))
    place = {"previous": "looks most at the token before", "itself": "looks most at the token itself"}
    sentence = f"**L{layer} H{head} {place.get(most, 'rests most on the first token')}**: {percent(getattr(shares, most))}"
    assert flat(sentence) in words and flat(f"an even look would give {percent(even)}") in words
    assert f"the heads H0 to H7, from left to right: H{head} is on" in words
