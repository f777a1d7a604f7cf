"""Losses on logarithmic axes: points, error bars and the fitted law are where they belong."""

from __future__ import annotations

import numpy as np
import pytest

from viz.figures.scale import on_log_axes


def test_points_have_their_range_and_the_law_is_a_line_of_its_own():
    series = {"a": ([10, 100], [2.0, 1.0], [1.5, 0.9], [3.0, 1.2]), "b": ([10], [4.0], [4.0], [4.0])}
    figure = on_log_axes(series, ([10, 100], [2.2, 1.1]), across="size", up="loss", law_name="law")
    first, second, law = figure.data
    assert (first.name, second.name, law.name) == ("a", "b", "law") and law.line.dash == "dash"
    np.testing.assert_allclose(first.error_y.array, [1.0, 0.2])
    np.testing.assert_allclose(first.error_y.arrayminus, [0.5, 0.1])
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "log" and list(figure.layout.yaxis.tickvals) == [
        0.9,
        1.31,
        1.9,
        2.75,
        4,
    ]
    assert len(on_log_axes({"a": series["a"]}, across="size", up="loss").data) == 1


@pytest.mark.parametrize("points", [([0], [1], [1], [1]), ([1], [1], [-1], [1])])
def test_what_has_no_logarithm_is_refused(points):
    with pytest.raises(ValueError, match="above 0"):
        on_log_axes({"a": points}, across="size", up="loss")
