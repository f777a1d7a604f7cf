from __future__ import annotations

import numpy as np
import pytest

from viz.figures.agreement import agreeing


def test_each_correlation_is_written_in_its_cell_and_one_that_is_not_known_is_empty():
    figure = agreeing(["one", "two <b>"], np.array([[1.0, -0.256], [-0.256, np.nan]]))
    square, cells = figure.data
    assert len(cells.x) == 3 and cells.marker.opacity == 0, "what a click meets, of each correlation"
    assert [list(row) for row in square.text] == [["1.00", "−0.26"], ["−0.26", ""]]
    assert (square.zmin, square.zmax) == (-1, 1) and "<b>" not in square.x[1]
    with pytest.raises(ValueError, match="for 3 names"):
        agreeing(["a", "b", "c"], np.ones((2, 2)))
