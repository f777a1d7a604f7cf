"""How far off a typed number may be."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.answer_checks import per_cent


@pytest.mark.parametrize(
    ("share", "right", "wrong"),
    [
        (0.965, (96, 96.5, 97), (99, 95, 100, 93.5)),
        (0.5, (47, 50, 53), (46.9, 53.1)),
        (0.12, (11, 12, 13.2), (9, 15)),
        (0.003, (0.3, 0.33), (0.1, 0.5, 3)),
        (0.999, (99.9, 100), (97, 99)),
    ],
)
def test_a_share_near_an_end_is_asked_for_more_exactly(share, right, wrong):
    answer = per_cent(share)
    assert all(map(answer.accepts, right)) and not any(map(answer.accepts, wrong))


def test_what_is_read_off_to_a_whole_number_is_right_and_the_opposite_is_wrong():
    for share in np.linspace(0.1, 1, 91):
        assert per_cent(share).accepts(float(np.round(100 * share)))
        assert abs(share - 0.5) < 0.03 or not per_cent(share).accepts(100 - 100 * share)
