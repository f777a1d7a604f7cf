"""The head view's data says what the weights say, and what cannot be drawn is refused in a sentence."""

from __future__ import annotations

import json
import struct
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.palette import HEADS
from viz.view import View
from viz.views.head_view import head_view
from viz.views.reading_view import reading_view
from viz.views.space_view import space_view


def tokens(count: int, text: str = " dog", segments: list[int] | None = None) -> list[SimpleNamespace]:
    segments = segments or [0] * count
    return [SimpleNamespace(id=i, text=text, special=False, fragment=False, segment=segments[i]) for i in range(count)]


def softmax(heads: int, queries: int, keys: int, causal: bool, seed: int) -> np.ndarray:
    scores = np.random.default_rng(seed).normal(0, 3, (heads, queries, keys)).astype(np.float32)
    if causal:
        scores[:, np.triu(np.ones((queries, keys), dtype=bool), 1)] = -np.inf
    parts = np.exp(scores - scores.max(-1, keepdims=True))
    return parts / parts.sum(-1, keepdims=True)


def header(view: View) -> dict:
    length = struct.unpack_from("<I", view.data)[0]
    return json.loads(view.data[4 : 4 + length])


def sent(view: View) -> np.ndarray:
    """The weights [head, query, key] as the page reads them, by the layout that `pack` promises."""
    length, head = struct.unpack_from("<I", view.data)[0], header(view)
    start = -(-(4 + length) // 8) * 8 + head["arrays"]["weights"]["offset"]
    heads, queries, keys = head["shape"]
    if not head["causal"]:
        return np.frombuffer(view.data, np.uint8, heads * queries * keys, start).reshape(head["shape"]) / 255
    each = queries * (queries + 1) // 2
    rows = np.frombuffer(view.data, np.uint8, heads * each, start).reshape(heads, each)
    whole = np.zeros(head["shape"])
    whole[:, *np.tril_indices(queries)] = rows
    return whole / 255


sizes = st.integers(1, 9)


@given(sizes, sizes, sizes, st.booleans(), st.integers(0, 2**32 - 1))
def test_what_is_sent_is_the_weights_to_one_in_510(heads, queries, keys, causal, seed):
    keys = queries if causal else keys
    weights = softmax(heads, queries, keys, causal, seed)
    view = head_view(tokens(queries), tokens(keys), weights)
    assert np.abs(sent(view) - weights).max() <= 1 / 510 + 1e-6
    assert header(view)["causal"] == (queries == keys > 1 and not np.triu(weights, 1).any())


def test_a_window_keeps_the_positions_of_its_first_query_and_its_first_key():
    view = head_view(tokens(2), tokens(3), softmax(1, 2, 3, False, 0), starts=(100, 7))
    assert header(view)["starts"] == [100, 7]


@given(sizes, sizes, st.integers(0, 2**32 - 1))
def test_weights_that_are_not_numbers_are_sent_as_nothing_and_counted(heads, count, seed):
    weights = softmax(heads, count, count, True, seed)
    where = np.random.default_rng(seed).random(weights.shape) < 0.3
    weights[where] = np.random.default_rng(seed).choice([np.nan, np.inf, -np.inf], where.sum())
    view = head_view(tokens(count), tokens(count), weights)
    assert header(view)["broken"] == where.sum()
    assert not sent(view)[where].any()
    assert np.abs(sent(view) - weights)[~where].max(initial=0) <= 1 / 510 + 1e-6


def test_a_causal_layer_takes_half_the_bytes():
    weights = softmax(12, 128, 128, True, 0)
    whole = head_view(tokens(128), tokens(128), weights, causal=False)
    assert len(head_view(tokens(128), tokens(128), weights).data) < 0.56 * len(whole.data)
    assert np.array_equal(sent(whole), sent(head_view(tokens(128), tokens(128), weights)))


def test_faint_weights_above_the_diagonal_do_not_look_like_a_mask():
    weights = np.full((2, 600, 600), 1 / 600, dtype=np.float32)  # each rounds to nothing
    view = head_view(tokens(600), tokens(600), weights)
    assert not header(view)["causal"]


def test_no_array_of_the_caller_is_changed():
    weights = softmax(2, 3, 3, True, 1)
    weights[0, 0, 0] = np.nan
    before = weights.copy()
    head_view(tokens(3), tokens(3), weights)
    assert np.array_equal(before, weights, equal_nan=True)


def test_queries_and_keys_that_are_the_same_are_sent_once():
    weights = softmax(2, 3, 3, True, 1)
    assert header(head_view(tokens(3), tokens(3), weights))["to"] is None
    cross = header(head_view(tokens(3, " Hund"), tokens(3), weights))
    assert cross["from"]["tokens"] != cross["to"]["tokens"]


def test_a_long_token_is_cut_and_its_text_cannot_end_the_script():
    view = head_view(tokens(2, "<script>alert(1)</script>" * 120), tokens(2), softmax(1, 2, 2, False, 0))
    assert len(view.data) < 3000
    assert "alert(1)" not in view.to_html()


def test_the_segments_of_a_pair_are_sent_and_those_of_one_text_are_not():
    weights = softmax(2, 3, 3, False, 1)
    assert header(head_view(tokens(3, segments=[0, 1, 1]), tokens(3), weights))["from"]["segments"] == [0, 1, 1]
    assert header(head_view(tokens(3), tokens(3), weights))["from"]["segments"] is None


def test_what_is_on_at_first_can_be_said():
    weights = softmax(4, 3, 3, True, 1)
    assert header(head_view(tokens(3), tokens(3), weights))["heads"] == [0, 1, 2, 3]
    view = head_view(tokens(3), tokens(3), weights, layer=5, heads=[3, 1, 1], chosen=("to", 2))
    assert (header(view)["heads"], header(view)["chosen"]) == ([1, 3], ["to", 2])
    assert "Layer 5" in view.label
    assert header(head_view(tokens(3), tokens(3), weights, heads=[]))["heads"] == []


def test_beginners_are_asked_for_heads_and_a_threshold_alone():
    view = head_view(tokens(3), tokens(3), softmax(2, 3, 3, True, 1), simple=True)
    assert header(view)["simple"] and not header(head_view(tokens(3), tokens(3), softmax(2, 3, 3, True, 1)))["simple"]


@pytest.mark.parametrize(
    ("weights", "options", "says"),
    [
        (np.ones((2, 3)), {}, "give one layer’s"),
        (np.ones((2, 3, 4)), {}, "give one layer’s"),
        (np.full((2, 3, 3), 1.5), {}, "between 0 and 1"),
        (np.full((2, 3, 3), -0.2), {}, "between 0 and 1"),
        (np.full((2, 3, 3), 0.3), {"heads": [0, 2]}, "count from 0"),
        (np.full((2, 3, 3), 0.3), {"heads": [-1]}, "count from 0"),
        (np.full((2, 3, 3), 0.3), {"chosen": ("from", 3)}, "no token 3"),
        (np.full((2, 3, 3), 0.3), {"chosen": ("left", 0)}, '"from", position'),
        (np.full((2, 3, 3), 0.3), {"causal": True}, "later"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(weights, options, says):
    with pytest.raises(ValueError, match=says):
        head_view(tokens(3), tokens(3), weights, **options)


@pytest.mark.parametrize("shape", [(0, 0, 0), (12, 0, 0), (0, 3, 3), (1, 1, 1), (2, 0, 3)], ids=str)
def test_little_or_nothing_makes_a_view(shape):
    view = head_view(tokens(shape[1]), tokens(shape[2]), np.ones(shape) / max(1, shape[2]))
    assert sent(view).shape == shape


def test_a_head_has_one_colour_on_every_page_and_in_every_view():
    colours = list(HEADS[:3])
    heads = header(head_view(tokens(3), tokens(3), softmax(3, 3, 3, True, 0)))["colours"]
    strips = header(reading_view(tokens(3), softmax(3, 3, 3, True, 0)))["heads"]["colours"]
    points = header(space_view(["a", "b", "c"], np.zeros((2, 3, 2)), values=list("xyz")))["colours"]["inks"]
    assert heads[:3] == strips == points == colours


def test_what_is_cut_is_sent_and_nothing_can_be_cut_unless_it_is_said():
    weights = softmax(2, 3, 3, True, 0)
    assert header(head_view(tokens(3), tokens(3), weights))["cuts"] is None
    assert header(head_view(tokens(3), tokens(3), weights, cuts=[(1, 2, 0)]))["cuts"] == [[1, 2, 0]]
