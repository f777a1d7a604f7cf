"""A window changes what is visible and no number; hidden and joined tokens sum to what the formulas say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis import scope
from models import Attention
from models.tokens import Token

WORDS = ["The", " far", "mer", " ran", "."]


def tokens(count: int, ends: bool) -> list[Token]:
    """Words of one and of two tokens; ends: between a sign at the beginning and one at the end, which nobody typed."""
    pieces, at = [], 0
    for i in range(count):
        text = WORDS[i % len(WORDS)]
        pieces.append(Token(10 + i, text, at, at + len(text)))
        at += len(text)
    return [Token(1, "<s>", 0, 0, special=True), *pieces, Token(2, "</s>", at, at, special=True)] if ends else pieces


def attention(count: int, ends: bool, seed: int, others: int | None = None) -> Attention:
    queries, keys = tokens(count, ends), tokens(count if others is None else others, ends)
    powers = np.exp(np.random.default_rng(seed).normal(0, 2, (2, 3, len(queries), len(keys))))
    return Attention.from_arrays(powers / powers.sum(-1, keepdims=True), queries, keys)


choices = st.fixed_dictionaries({"special": st.booleans(), "whole_words": st.booleans(), "renormalised": st.booleans()})
sizes, seeds = st.integers(1, 12), st.integers(0, 2**32 - 1)


@st.composite
def windows(draw, count: int) -> tuple[int, int]:
    first = draw(st.integers(0, count - 1))
    return first, draw(st.integers(first, count - 1))


@given(st.data(), sizes, sizes, st.booleans(), choices, seeds)
def test_a_window_shows_a_part_of_the_same_numbers(data, count, others, ends, chosen, seed):
    full = attention(count, ends, seed, others)
    queries, keys = (data.draw(windows(len(side))) for side in (full.queries, full.keys))
    everything, windowed = scope(full, **chosen), scope(full, **chosen, queries=queries, keys=keys)
    down, across = windowed.starts
    part = everything[1][:, down : down + len(windowed.queries.tokens), across : across + len(windowed.keys.tokens)]
    np.testing.assert_allclose(windowed[1], part, rtol=1e-6)
    assert windowed.queries.tokens == everything.queries.tokens[down : down + len(windowed.queries.tokens)]
    assert windowed.keys.groups == everything.keys.groups[across : across + len(windowed.keys.groups)]
    assert len(windowed.queries.tokens) > 0 and len(windowed.keys.tokens) > 0
    for side, (first, last) in ((windowed.queries, queries), (windowed.keys, keys)):
        assert all(first <= group[0] <= last for group in side.groups) or len(side.groups) == 1


@given(st.data(), sizes, choices, seeds)
def test_every_token_is_in_one_of_two_windows_side_by_side(data, count, chosen, seed):
    full = attention(count, True, seed)
    border = data.draw(st.integers(1, len(full.keys) - 1))
    ends = scope(full, **chosen, keys=(0, border - 1)), scope(full, **chosen, keys=(border, len(full.keys) - 1))
    first, second = (side.keys.groups for side in ends)
    if first[-1] != second[0]:  # else one of them had nothing of its own to show
        assert first + second == scope(full, **chosen).keys.groups
        np.testing.assert_allclose(ends[0][0].sum(-1) + ends[1][0].sum(-1), scope(full, **chosen)[0].sum(-1), rtol=1e-5)


@given(sizes, st.booleans(), choices, seeds)
def test_rows_sum_to_what_the_kept_keys_get_or_to_one(count, ends, chosen, seed):
    full = attention(count, ends, seed)
    scoped = scope(full, **chosen)
    given_to = full[0][:, :, [p for group in scoped.keys.groups for p in group]].sum(-1)
    given_to = np.stack([given_to[:, group].mean(1) for group in scoped.queries.groups], 1)
    np.testing.assert_allclose(scoped[0].sum(-1), 1 if chosen["renormalised"] else given_to, rtol=1e-5)


@given(st.data(), sizes, choices, seeds)
def test_what_was_asked_for_makes_the_same_again(data, count, chosen, seed):
    full = attention(count, True, seed)
    bounds = {"queries": data.draw(windows(len(full.queries))), "keys": data.draw(windows(len(full.keys)))}
    scoped = scope(full, **chosen, **bounds)
    again = scope(full, **scoped.options)
    assert (again.queries, again.keys, again.options) == (scoped.queries, scoped.keys, scoped.options)
    np.testing.assert_array_equal(again[0], scoped[0])
    assert scope(full).options == {}


def test_a_window_within_a_word_shows_that_word():
    full = attention(5, False, 0)
    assert scope(full, whole_words=True, queries=(2, 2)).queries.tokens[0].text == " farmer"
    assert scope(full, whole_words=True, queries=(2, 3)).queries.tokens[0].text == " ran", "a word is where it begins"


@pytest.mark.parametrize("window", [(0, 3), (-1, 2), (2, 1)])
def test_a_window_that_is_not_in_the_text_is_refused_in_a_sentence(window):
    with pytest.raises(ValueError, match=r"first and last position, among 0 to 2"):
        scope(attention(3, False, 0), keys=window)
