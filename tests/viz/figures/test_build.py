from __future__ import annotations

import numpy as np

from viz.figures.build import lines


def test_a_long_logarithmic_axis_has_powers_of_ten_alone_and_a_short_one_names_every_tick_in_full():
    x = np.geomspace(1, 1e6, 5)
    layout = lines(x, {"one": x, "other": 0 * x}, "", "across", "up", log_x=True, log_y=True).layout
    assert (layout.xaxis.type, layout.xaxis.dtick, layout.yaxis.dtick) == ("log", 1, 1)
    x = np.geomspace(1, 400, 5)
    axis = lines(x, {"one": x}, "", "across", "up", log_x=True).layout.xaxis
    assert list(axis.ticktext) == ["1", "2", "5", "10", "20", "50", "100", "200", "500"]
    assert [float(text) for text in axis.ticktext] == list(axis.tickvals)
    assert lines(x, {"one": x}, "", "across", "up").layout.xaxis.tickvals is None
