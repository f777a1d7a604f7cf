"""Words in an order: what is no order is refused, and the rest arrives as it was given."""

from __future__ import annotations

import json

import pytest

from viz.views.order_view import order_view


def test_words_order_and_marks_arrive():
    data = order_view(["a b", "c", "d\n"], (2, 0, 1), changed=[1], label="Words").data
    header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
    assert (header["order"], header["changed"], header["label"]) == ([2, 0, 1], [False, True, False], "Words")
    assert header["words"] == [["a b"], ["c"], ["d", "↵"]]


@pytest.mark.parametrize("order", [(), (0, 0), (0,), (1, 2), (0, 1, 2)])
def test_what_is_no_order_is_refused(order):
    with pytest.raises(ValueError, match="An order of 2 words"):
        order_view(["a", "b"], order)
