"""What the pictures across layers send: the numbers they were given, names for every cell, colours that follow."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models import Token
from tests.viz.views.test_model_view import sent
from viz import View
from viz.figures.heads import head_scatter
from viz.views.grid_view import grid_view
from viz.views.grid_view.layers import attention_movie, head_grid, lens_grid, pair_of_cell, rank_grid


def tokens(count: int) -> list[Token]:
    return [Token(i, f" t{i}", i, i + 1) for i in range(count)]


def causal(layers: int, count: int, seed: int = 0) -> np.ndarray:
    maps = np.random.default_rng(seed).dirichlet(np.ones(count), (layers, count)).astype(np.float32)
    return np.where(np.tri(count, dtype=bool), maps, np.nan)


def numbers(view: View) -> np.ndarray:
    return sent(view)[1]["values"]


def test_values_arrive_as_they_are_and_colours_run_between_round_numbers_around_them():
    values = np.array([[1.25, np.nan], [-3.5, 0.1]])
    header, arrays = sent(grid_view(values, ["a", "b"], ["x", "y"], unit="nats"))
    np.testing.assert_array_equal(arrays["values"][0], values.astype(np.float32))
    assert header["ends"] == [-3.5, 1.5]
    assert arrays["shades"][0].tolist() == [[round(255 * 4.75 / 5), 0], [0, round(255 * 3.6 / 5)]]
    header, arrays = sent(grid_view(np.array([[0.5]]), ["a"], ["x"], scale=(0, 1)))
    assert header["ends"] == [0, 1] and arrays["shades"].item() == 128


@pytest.mark.parametrize(
    ("low", "high", "ends"),
    [(0.0447, 3.02, [0, 3.5]), (0.693, 2.31, [0.6, 2.4]), (0, 0.683, [0, 0.7]), (0.1, 0.6, [0.1, 0.6]), (2, 2, [2, 2])],
)
def test_the_ends_of_a_scale_are_round(low, high, ends):
    assert sent(grid_view(np.array([[low, high]]), ["a"], ["x", "y"], unit="steps"))[0]["ends"] == ends


def test_a_number_that_is_covered_is_not_sent():
    covered = np.array([[True, False], [True, True]])
    header, arrays = sent(
        grid_view(np.array([[1.0, 2.0], [np.nan, 4.0]]), "ab", "xy", scale=(0, 4), covered=covered, blank="gone")
    )
    assert header["covered"] == [[True, False], [False, True]] and header["blank"] == "gone"
    assert np.isnan(arrays["values"][0]).tolist() == [[True, False], [True, True]] and not arrays["shades"][0][covered].any()
    assert sent(grid_view(np.ones((1, 1)), "a", "x"))[0]["covered"] is None


def test_what_is_all_the_same_or_nothing_at_all_is_drawn():
    assert sent(grid_view(np.full((2, 2), 7.0), "ab", "xy"))[1]["shades"].max() == 0
    assert np.isnan(numbers(grid_view(np.full((2, 2), np.nan), "ab", "xy"))).all()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: grid_view(np.zeros((2, 3)), "ab", "xy"),
        lambda: grid_view(np.zeros((0, 0)), "", ""),
        lambda: grid_view(np.zeros((3, 2, 2)), "ab", "xy"),
        lambda: grid_view(np.zeros((3, 2, 2)), "ab", "xy", frames=["one"]),
        lambda: grid_view(np.zeros((2, 2)), "ab", "xy", row_names=["one"]),
        lambda: grid_view(np.zeros((2, 2)), "ab", "xy", texts=[["one"]]),
        lambda: attention_movie(tokens(3), tokens(3), np.zeros((2, 3, 2))),
        lambda: head_grid(np.zeros(3)),
        lambda: head_scatter(np.zeros((7, 2)), 2),
        lambda: lens_grid(["a"], [["b"]], np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), colour="red"),
    ],
)
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError, match=r"fit|need|names|give|colour|frames"):
        wrong()


def test_a_place_that_is_not_there_is_not_chosen():
    for chosen in ((2, 0), (0, -1), None):
        assert sent(grid_view(np.zeros((2, 2)), "ab", "xy", chosen=chosen))[0]["chosen"] is None
    assert sent(grid_view(np.zeros((2, 2)), "ab", "xy", chosen=(1, 0)))[0]["chosen"] == [1, 0]


def test_the_movie_has_a_frame_a_layer_and_a_name_for_every_token():
    maps = causal(3, 5)
    header, arrays = sent(attention_movie(tokens(5), tokens(5), maps, (4, 1)))
    np.testing.assert_array_equal(arrays["values"], maps)
    assert header["frames"] == ["Layer 0", "Layer 1", "Layer 2"] and header["chosen"] == [4, 1]
    assert header["rowNames"][4] == "from “·t4” (4)" and header["columnNames"][1] == "to “·t1” (1)"


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 150), st.integers(0, 10**6))
def test_a_cell_of_a_large_movie_is_its_strongest_pair(count, seed):
    maps = causal(2, count, seed)
    view = attention_movie(tokens(count), tokens(count), maps)
    cells = numbers(view)
    generator = np.random.default_rng(seed)
    row = int(generator.integers(cells.shape[1]))
    column = int(generator.integers(0, row + 1))
    query, key = pair_of_cell(maps, row, column)
    assert cells[:, row, column][~np.isnan(cells[:, row, column])].max(initial=0) == pytest.approx(
        np.nan_to_num(maps[:, query, key]).max(), abs=1e-3
    )
    assert sent(attention_movie(tokens(count), tokens(count), maps, (query, key)))[0]["chosen"] == [row, column]


def test_ranks_are_stronger_the_nearer_to_the_first_and_blank_out_of_sight():
    ranks = np.array([[1, 4], [16, 0]])
    header, arrays = sent(rank_grid(ranks, [16, 16]))
    assert np.isnan(arrays["values"][0, 1, 1]) and arrays["values"][0, 1, 0] == 16
    assert arrays["shades"][0].ravel()[:3].tolist() == [255, 128, 0]  # halfway from 1 to 16, in the logarithm, is 4
    assert header["ends"] == ["rank 16", "rank 1"]


@pytest.mark.parametrize(("colour", "strong"), [("probability", (1, 1)), ("rank", (2, 0)), ("kl", (2, 0))])
def test_the_lens_is_strong_where_a_layer_is_sure_or_near_the_answer_and_the_input_has_no_colour(colour, strong):
    probability, rank = np.array([[1.0, 1.0], [0.1, 0.9], [0.5, 0.5]]), np.array([[1, 1], [9, 3], [1, 2]])
    kl, texts = np.array([[0.0, 0.0], [4.0, 2.0], [0.0, 1.0]]), [["u", "v"], ["x", "y"], ["z", "w"]]
    header, arrays = sent(lens_grid([" a", " b"], texts, probability, rank, kl, colour))
    assert np.unravel_index(arrays["shades"][0].argmax(), (3, 2)) == strong and not arrays["shades"][0][0].any()
    assert header["texts"] == texts and header["rows"] == ["input", "L0", "L1"]
    without = sent(lens_grid([" a", " b"], texts[1:], probability[1:], rank[1:], kl[1:], colour, numbers=(0, 1)))[1]["shades"]
    assert without[0][0].any(), "the first row is a layer here"
    values = {"probability": probability, "rank": rank, "kl": kl}[colour]
    np.testing.assert_allclose(arrays["values"][0], values, rtol=1e-6)


def test_points_of_heads_keep_their_place():
    points = np.random.default_rng(1).normal(size=(40, 2))
    figure = head_scatter(points, 5, chosen=(2, 3))
    np.testing.assert_array_equal(np.column_stack([figure.data[0].x, figure.data[0].y]), points)
    assert list(figure.data[0].hovertext) == [f"L{i // 8} H{i % 8}" for i in range(40)]
    assert [figure.data[1].x[0], figure.data[1].y[0]] == points[2 * 8 + 3].tolist()


@pytest.mark.parametrize("seed", range(5))
def test_the_name_of_a_head_covers_no_point_and_no_other_name_on_a_phone_and_on_a_wide_page(seed):
    points = np.random.default_rng(seed).normal(size=(48, 2)) * [3, 1]
    figure = head_scatter(points, 6, height=420)
    across, up = (axis.range for axis in (figure.layout.xaxis, figure.layout.yaxis))
    names = [
        (i, text, where)
        for i, (text, where) in enumerate(zip(figure.data[0].text, figure.data[0].textposition, strict=True))
        if text
    ]
    assert len(names) > 8
    for width in (330, 520, 900):
        drawn = points * min(width / (across[1] - across[0]), 356 / (up[1] - up[0]))  # pixels: both axes have one scale
        boxes = []
        for i, text, where in names:
            x, y = drawn[i]
            right = ("right" in where) - ("left" in where)
            above = ("top" in where) - ("bottom" in where)
            left, low = x + 8 * right + (right - 1) * 6 * len(text) / 2, y + 8 * above + (above - 1) * 12 / 2
            boxes.append((left, low, left + 6 * len(text), low + 12))
            covered = (drawn > boxes[-1][:2]).all(1) & (drawn < boxes[-1][2:]).all(1)
            assert not covered.any(), f"{text} stands on a point"
        for a, b in combinations(boxes, 2):
            assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
