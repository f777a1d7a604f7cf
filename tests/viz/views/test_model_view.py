"""What a model view sends: maps that lose no spike, every head once, words for every number."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from viz import View
from viz.palette import HEADS, PATTERNS
from viz.views.model_view import model_view
from viz.views.model_view.shrink import edges, shrink


def sent(view: View) -> tuple[dict, dict[str, np.ndarray]]:
    length = int.from_bytes(view.data[:4], "little")
    header = json.loads(view.data[4 : 4 + length])
    start = -(-(4 + length) // 8) * 8
    payload = {
        name: np.frombuffer(view.data, entry["dtype"], int(np.prod(entry["shape"])), start + entry["offset"]).reshape(
            entry["shape"]
        )
        for name, entry in header["arrays"].items()
    }
    return header, payload


def maps(layers: int = 2, heads: int = 3, size: int = 4) -> np.ndarray:
    return np.random.default_rng(0).dirichlet(np.ones(size), (layers, heads, size)).astype(np.float32)


SIDES = st.integers(1, 70)


@given(
    arrays.arrays(np.float32, st.tuples(st.integers(1, 2), SIDES, SIDES), elements=st.floats(0, 1, width=32)), st.integers(1, 50)
)
@settings(max_examples=60, deadline=None)
def test_a_small_cell_is_the_largest_of_those_it_covers(large, side):
    small = shrink(large, side)
    down, across = (edges(size, side) for size in large.shape[1:])
    assert small.shape == (len(large), min(side, large.shape[1]), min(side, large.shape[2]))
    for i in range(small.shape[1]):
        for j in range(small.shape[2]):
            covered = large[:, down[i] : down[i + 1], across[j] : across[j + 1]]
            np.testing.assert_array_equal(small[:, i, j], covered.max((1, 2)))


def test_weights_arrive_within_half_a_step():
    drawn_maps = sent(model_view(iter(maps(size=40))))[1]["maps"]
    np.testing.assert_allclose(drawn_maps / 255, maps(size=40), atol=1 / 510 + 1e-6)


@given(st.integers(2, 60), st.integers(1, 50))
@settings(max_examples=30, deadline=None)
def test_what_looks_back_only_is_sent_without_its_future(size, side):
    """The rows up to the diagonal say it all; a map with one weight above it is sent whole."""
    whole = np.tril(maps(size=size))
    header, payload = sent(model_view(whole, side=side))
    cells = min(size, side)
    rows, columns = np.tril_indices(cells)
    if cells > 1:
        assert header["causal"] and header["shape"] == [2, 3, cells, cells]
        np.testing.assert_allclose(payload["maps"] / 255, shrink(whole, side)[..., rows, columns], atol=1 / 510 + 1e-6)
    whole[0, 0, 0, -1] = 1
    header, payload = sent(model_view(whole, side=side))
    assert not header["causal"] and payload["maps"].shape == (2, 3, cells, cells)


def test_an_iterator_may_use_the_same_memory_for_each_layer():
    def layers():
        memory = np.empty((3, 4, 4), dtype=np.float32)
        for layer in maps(5):
            memory[:] = layer
            yield memory

    np.testing.assert_array_equal(sent(model_view(layers()))[1]["maps"], sent(model_view(maps(5)))[1]["maps"])


def test_broken_weights_are_drawn_as_nothing():
    broken = maps()
    broken[0, 0, 0] = np.nan
    assert (sent(model_view(broken))[1]["maps"][0, 0, 0] == 0).all()


def test_every_value_has_its_words_and_its_place_between_the_smallest_and_the_largest():
    values = np.array([[0.5, np.nan, 2.0], [12345.6, 1e-7, -0.25]])
    header, payload = sent(model_view(maps(), values=values, unit="nats"))
    quantity = header["quantity"]
    assert (quantity["low"], quantity["high"]) == ("−0.25", "12300")
    assert quantity["words"][0] == ["0.5 nats", "", "2 nats"]
    assert quantity["words"][1] == ["12300 nats", "0.0000001 nats", "−0.25 nats"]
    on = payload["values"]
    assert np.isnan(on[0, 1]) and on[1, 0] == 1 and on[1, 2] == 0
    assert (np.argsort(on, axis=None)[:-1] == np.argsort(values, axis=None)[:-1]).all()


@pytest.mark.parametrize("value", [0.0, 3.0, np.nan])
def test_values_that_are_all_the_same_are_no_error(value):
    places = sent(model_view(maps(), values=np.full((2, 3), value)))[1]["values"]
    assert np.isnan(places).all() if np.isnan(value) else (places == 0).all()


def test_each_name_has_a_colour_of_its_own_the_most_frequent_first():
    names = np.array([["first", "mixed", "mixed"], ["", "previous", "mixed"]])
    header, payload = sent(model_view(maps(), values=names))
    assert header["quantity"]["names"] == ["mixed", "first", "previous"]
    assert header["quantity"]["colours"] == list(HEADS[:3])
    np.testing.assert_array_equal(payload["values"], [[1, 0, 0], [np.nan, 2, 0]])


def test_a_pattern_keeps_its_colour_whatever_is_most_frequent_in_a_text():
    def colours(names) -> dict[str, str]:
        quantity = sent(model_view(maps(), values=np.array(names), colours=PATTERNS))[0]["quantity"]
        return dict(zip(quantity["names"], quantity["colours"], strict=True))

    first = colours([["first", "mixed", "mixed"], ["", "previous", "mixed"]])
    second = colours([["first", "first", "induction"], ["previous", "first", "mixed"]])
    assert all(first[name] == second[name] == PATTERNS[name] for name in first)
    assert len(set(PATTERNS.values())) == len(PATTERNS) and set(PATTERNS.values()) <= set(HEADS)
    new = colours([["first", "new", "newer"], ["", "new", "mixed"]])
    assert len(set(new.values())) == 4 and new["first"] == PATTERNS["first"]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: model_view([]),
        lambda: model_view(np.zeros((2, 3, 3))),
        lambda: model_view([np.zeros((2, 3, 3)), np.zeros((2, 4, 4))]),
        lambda: model_view(maps(), notes=[["a"]]),
        lambda: model_view(maps(), order=[0, 1, 2]),
        lambda: model_view(maps(), order=[0, 0, 1, 2, 3, 4]),
        lambda: model_view(maps(), values=np.zeros((3, 2))),
        lambda: model_view(maps(), faint=[True]),
        lambda: model_view(maps(17, 1), values=np.array([[f"name {i}"] for i in range(17)])),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(wrong):
    with pytest.raises(ValueError, match=r"\.$"):
        wrong()


def test_text_of_a_note_is_never_markup():
    page = model_view(maps(), notes=[["</script><script>alert(1)</script>"] * 3] * 2).to_html()
    assert "<script>alert" not in page and page.count("</script>") == 1
