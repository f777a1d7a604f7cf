from __future__ import annotations

import numpy as np
import pytest

from viz.figures.build import lines


@pytest.mark.parametrize(("most", "ticks"), [(20.0, "D2"), (1e6, 1)])
def test_a_logarithmic_axis_has_no_more_ticks_than_have_room(most, ticks):
    x = np.geomspace(1, most, 5)
    layout = lines(x, {"one": x, "other": 0 * x}, "", "across", "up", log_x=True, log_y=True).layout
    assert (layout.xaxis.type, layout.xaxis.dtick, layout.yaxis.dtick) == ("log", ticks, ticks)
    assert lines(x, {"one": x}, "", "across", "up").layout.xaxis.dtick is None
