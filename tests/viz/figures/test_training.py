from __future__ import annotations

import pytest

from viz.figures.training import BEGINS, over_steps


@pytest.mark.parametrize("points", [0, 1, 2, 30])
def test_before_there_are_lines_the_picture_says_so(points):
    steps = list(range(points))
    figure = over_steps({"right": (steps, [0.5] * points), "wrong": (steps[:1], [0.1] * len(steps[:1]))}, 400, shares=True)
    assert [note.text for note in figure.layout.annotations] == ([BEGINS] if points < 2 else [])


def test_the_names_of_the_lines_stand_above_them_and_the_steps_below():
    legend = over_steps({"loss": ([0, 1], [2.0, 1.0])}, 2).layout.legend
    assert legend.y > 1 and legend.yanchor == "bottom"
