"""The way of a text as one picture: what is sent is what was given, to within a byte."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from viz.view import View
from viz.views.stations_view import CELLS, Gaze, Lane, Outcome, Words, shades, stations_view


def sent(view: View) -> tuple[dict, dict[str, np.ndarray]]:
    """The header of a view, and its arrays."""
    length = int.from_bytes(view.data[:4], "little")
    header = json.loads(view.data[4 : 4 + length])
    start = -(-(4 + length) // 8) * 8
    arrays = {}
    for name, array in header["arrays"].items():
        size = int(np.prod(array["shape"]))
        flat = np.frombuffer(view.data, np.dtype(array["dtype"]), size, start + array["offset"])
        arrays[name] = flat.reshape(array["shape"])
    return header, arrays


def gaze(layers: int, heads: int, rows: int, keys: int, seed: int = 0) -> Gaze:
    generator = np.random.default_rng(seed)
    weights = {layer: generator.dirichlet(np.ones(keys), (heads, rows)).astype(np.float32) for layer in range(layers)}
    mixed = {layer: generator.normal(size=(heads, rows, 32)).astype(np.float32) for layer in range(layers)}
    return Gaze(weights, mixed, 0, 0)


def lane(texts: list[str], layers: int = 2, heads: int = 3) -> Lane:
    vectors = np.random.default_rng(1).normal(size=(layers + 1, len(texts), 64)).astype(np.float32)
    return Lane(texts, range(len(texts)), vectors, gaze(layers, heads, len(texts), len(texts)), range(layers))


def test_weights_arrive_to_within_half_a_byte():
    given_lane = lane(["The", " cat", " sat"])
    _, arrays = sent(stations_view([given_lane], 2, [], []))
    for layer, weights in given_lane.gaze.weights.items():
        assert np.abs(arrays["weights-lane0"][layer] / 255 - weights).max() <= 0.5 / 255 + 1e-6


def test_the_largest_weight_of_each_row_arrives_in_two_bytes():
    """It is written in whole per cent, where half a byte could make another number of it than other pages write."""
    given_lane = lane(["The", " cat", " sat"])
    _, arrays = sent(stations_view([given_lane], 2, [], []))
    for layer, weights in given_lane.gaze.weights.items():
        high, low = np.moveaxis(arrays["largest-lane0"][layer].astype(int), -1, 0)
        np.testing.assert_allclose((256 * high + low) / 65535, weights.max(-1), atol=0.5 / 65535 + 1e-7)


def test_a_cell_is_the_number_furthest_from_zero_of_those_that_it_covers():
    values = np.random.default_rng(2).normal(size=(2, 5, 64)).astype(np.float32)
    cells = shades(values)
    blocks = values.reshape(2, 5, CELLS, 4)
    furthest = np.take_along_axis(blocks, np.abs(blocks).argmax(-1)[..., None], -1)[..., 0]
    assert cells.shape == (2, 5, CELLS)
    assert (np.sign(cells.astype(int) - 128) == np.sign(furthest)).mean() > 0.99, "a number that is nearly 0 may be drawn as 0"
    for layer in range(2):
        order = np.argsort(np.abs(furthest[layer]), axis=None)
        sizes = np.abs(cells[layer].astype(int) - 128).ravel()[order]
        assert (np.diff(sizes) >= 0).all(), "further from 0 is never fainter"


@pytest.mark.parametrize("odd", [np.nan, np.inf, 0.0])
def test_strips_of_odd_numbers_are_drawn(odd):
    assert shades(np.full((1, 2, 40), odd, np.float32)).shape == (1, 2, CELLS)
    assert (shades(np.zeros((1, 2, 40))) == 128).all()


def test_guesses_and_chances_arrive_as_they_are_written():
    guesses = [Outcome(" a", 0.25), Outcome(" dog", 0.5), Outcome(" dog", 0.125, id=7)]
    header, _ = sent(stations_view([lane(["The", " cat"])], 1, guesses, guesses[2:], words=Words({"tokens": "Pieces"})))
    assert [guess["number"] for guess in header["guesses"]] == ["25.0\u00a0%", "50.0\u00a0%", "12.5\u00a0%"]
    assert header["outcomes"] == [{"text": ["", "·", "dog"], "name": "dog", "share": 0.125, "number": "12.5\u00a0%", "id": 7}]
    assert [station["title"] for station in header["stations"]][:2] == ["Pieces", "Vectors"]


def test_a_model_that_predicts_nothing_has_no_station_of_chances():
    header, _ = sent(stations_view([lane(["The"])], 0, [], []))
    assert [station["key"] for station in header["stations"]] == ["tokens", "vectors", "look", "mix", "forward", "layers"]


def test_two_lanes_have_a_bridge():
    source, target = lane(["The", " cat", "."]), lane(["<s>", " Le"])
    header, arrays = sent(stations_view([source, target], 1, [], [], bridge=gaze(2, 3, 2, 3)))
    assert arrays["weights-bridge"].shape == (2, 3, 2, 3)
    assert "bridge" in [station["key"] for station in header["stations"]]


def test_heads_that_a_layer_has_not_are_not_counted():
    uneven = gaze(2, 3, 2, 2)
    weights = {0: uneven.weights[0][:1], 1: uneven.weights[1]}
    mixed = {0: uneven.mixed[0][:1], 1: uneven.mixed[1]}
    given_lane = lane(["a", "b"])
    header, arrays = sent(
        stations_view([Lane(["a", "b"], [0, 1], given_lane.vectors, Gaze(weights, mixed, 0, 0), [0, 1])], 0, [], [])
    )
    assert header["gazes"]["lane0"]["counts"] == [1, 3]
    assert not arrays["weights-lane0"][0, 1:].any()


@pytest.mark.parametrize("row", [-1, 2])
def test_a_row_that_is_not_there_is_refused(row):
    with pytest.raises(ValueError, match=f"Row {row} of 2"):
        stations_view([lane(["a", "b"])], row, [], [])


def test_as_many_guesses_as_there_are_layers_are_needed():
    with pytest.raises(ValueError, match="1 guesses for 3"):
        stations_view([lane(["a"])], 0, [Outcome("a", 1.0)], [])


@given(st.lists(st.text(max_size=40), min_size=1, max_size=6))
def test_any_text_is_drawn(texts):
    header, arrays = sent(stations_view([lane(texts)], len(texts) - 1, [], [Outcome(text, 0.1) for text in texts]))
    assert len(header["lanes"][0]["tokens"]) == len(texts) == arrays["vectors-lane0"].shape[1]
    assert stations_view([lane(texts)], 0, [], []).to_html()
