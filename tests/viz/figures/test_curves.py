from __future__ import annotations

import numpy as np
import pytest

from viz.figures.curves import curves

COUNTS, VALUES = [0, 1, 2, 4], [0.5, 0.25, 0.1, 0.0]
RANDOM = [[0.5, 0.5, 0.4, 0.0], [0.5, 0.3, 0.2, 0.0], [0.5, 0.4, 0.3, 0.0]]


def lines(figure) -> dict:
    return {trace.name: trace for trace in figure.data if trace.name}


def test_shares_of_tokens_and_probabilities_are_in_per_cent():
    by_name = lines(curves(COUNTS, ("rollout", VALUES), {"flow": [0.5, 0.4, 0.4, 0.0]}))
    np.testing.assert_allclose(by_name["rollout"].x, [0, 25, 50, 100])
    np.testing.assert_allclose(by_name["rollout"].y, [50, 25, 10, 0])
    np.testing.assert_allclose(by_name["flow"].y, [50, 40, 40, 0])
    assert by_name["rollout"].line.width > by_name["flow"].line.width


def test_a_legend_has_one_line_for_the_thin_ones():
    figure = curves(COUNTS, ("rollout", VALUES), {"flow": VALUES, "gradient rollout": VALUES}, random=RANDOM)
    named = [trace.name for trace in figure.data if trace.name and trace.showlegend is not False]
    assert named == ["their range", "median of 3 random orders", "other methods", "rollout"]
    assert "other methods" not in lines(curves(COUNTS, ("rollout", VALUES)))


def test_random_orders_are_a_median_within_their_range():
    figure = curves(COUNTS, ("rollout", VALUES), random=[*RANDOM, [0.5, 0.9, 0.4, 0.0]])
    low = next(np.array(trace.y, dtype=float) for trace in figure.data if not trace.name)
    np.testing.assert_allclose(lines(figure)["median of 4 random orders"].y, [50, 45, 35, 0])
    np.testing.assert_allclose(low, [50, 30, 20, 0])
    np.testing.assert_allclose(lines(figure)["their range"].y, [50, 90, 40, 0])


def test_each_point_says_how_many_of_all_are_gone():
    figure = curves(COUNTS, ("rollout", VALUES), random=RANDOM)
    for line in (figure.data[-1], lines(figure)["median of 3 random orders"]):
        assert list(line.text) == ["0 of 4", "1 of 4", "2 of 4", "4 of 4"] and "%{text}" in line.hovertemplate


def test_names_are_text():
    figure = curves(COUNTS, ("<i>%{x}</i>", VALUES), steps=["", "<b>", "“ball”", "x"])
    line = figure.data[-1]
    assert "<i>" not in line.name and "%{x}<" not in line.hovertemplate.split(":")[0]
    assert "<b>" not in line.customdata[1] and "“ball”" in line.customdata[2]


def test_what_does_not_fit_is_a_sentence():
    for wrong in (
        {"chosen": ("a", VALUES[:2])},
        {"chosen": ("a", VALUES), "others": {"b": [1.0]}},
        {"chosen": ("a", VALUES), "random": [[1.0]]},
        {"chosen": ("a", VALUES), "steps": ["x"]},
    ):
        with pytest.raises(ValueError, match="There are 4 points"):
            curves(COUNTS, **wrong)


def test_a_rival_has_a_colour_of_its_own_and_stands_in_the_legend():
    by_name = lines(curves(COUNTS, ("rollout", VALUES), rival=("flow", [0.5, 0.4, 0.4, 0.0])))
    assert by_name["flow"].line.color != by_name["rollout"].line.color and by_name["flow"].showlegend is not False
    with pytest.raises(ValueError, match="flow"):
        curves(COUNTS, ("rollout", VALUES), rival=("flow", [0.5]))
