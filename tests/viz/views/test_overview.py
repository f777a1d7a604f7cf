"""The map of a long text loses no spike, and what cannot be drawn is refused in a sentence."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.view import View
from viz.views.overview import overview

sizes = st.integers(1, 700)


def sent(view: View) -> tuple[dict, np.ndarray]:
    length = int.from_bytes(view.data[:4], "little")
    header = json.loads(view.data[4 : 4 + length])
    shape = header["arrays"]["cells"]["shape"]
    return header, np.frombuffer(view.data, np.uint8, shape[0] * shape[1], -(-(4 + length) // 8) * 8).reshape(shape)


@given(sizes, sizes, st.integers(0, 2**32 - 1))
def test_a_cell_is_the_largest_of_what_it_covers_to_one_in_510(queries, keys, seed):
    weights = np.random.default_rng(seed).random((queries, keys), dtype=np.float32) ** 4
    window = (0, queries - 1), (0, keys - 1)
    _, cells = sent(overview([" a"] * queries, [" b"] * keys, weights, window))
    rows, columns = min(queries, 256), min(keys, 256)
    assert cells.shape == (rows, columns)
    down, across = (np.arange(count + 1) * size // count for count, size in ((rows, queries), (columns, keys)))
    largest = np.maximum.reduceat(np.maximum.reduceat(weights, down[:-1], 0), across[:-1], 1)
    assert np.abs(cells / 255 - largest).max() <= 1 / 510 + 1e-6


def test_a_map_of_any_length_stays_small():
    words = [SimpleNamespace(text=" a word of some length") for _ in range(2048)]
    view = overview(words, words, np.zeros((2048, 2048), dtype=np.float32), ((1900, 2047), (0, 1023)))
    header, cells = sent(view)
    assert len(view.data) < 256 * 256 + 2048 * 40 and cells.size == 256 * 256
    assert header["window"] == [1900, 2047, 0, 1023] and header["to"] is None


def test_what_is_not_a_number_is_drawn_as_nothing():
    _, cells = sent(overview("ab", "ab", np.array([[np.nan, 0.2], [np.inf, 1.0]]), ((0, 1), (0, 1))))
    assert cells[0].tolist() == [0, 51] and cells[1, 1] == 255


@pytest.mark.parametrize(
    ("shape", "window", "most"),
    [
        ((2, 3), ((0, 1), (0, 1)), 9),
        ((3, 3), ((0, 3), (0, 2)), 9),
        ((3, 3), ((2, 1), (0, 2)), 9),
        ((3, 3), ((-1, 1), (0, 2)), 9),
        ((3, 3), ((0, 2), (0, 2)), 2),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(shape, window, most):
    with pytest.raises(ValueError, match=r"\.$"):
        overview("abc", "abc", np.zeros(shape), window, most=most)
