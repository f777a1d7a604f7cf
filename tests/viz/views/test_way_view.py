"""The strips of the stages: the strongest colour is for the largest number, and not for every number beside it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from viz.views.way_view import CELLS, shades


def test_a_small_share_beside_a_large_one_is_pale():
    cells, signed = shades(np.array([0.01, 0.06, 0.85, 0.05, 0.03]))
    assert not signed and cells[2] == 255 and cells[1] == round(255 * 0.06 / 0.85)


@given(st.lists(st.floats(0, 100), min_size=2, max_size=60))
def test_few_numbers_are_shaded_by_the_largest_of_them(values):
    cells, signed = shades(np.array(values))
    most = max(values) or 1.0
    assert not signed and cells.tolist() == [int(np.rint(255 * value / most)) for value in values]


def test_of_many_numbers_some_that_stand_out_leave_the_others_their_colours():
    values = np.full(CELLS, 1.0)
    values[0] = 1000.0
    assert set(shades(values)[0].tolist()) == {255}
