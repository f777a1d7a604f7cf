"""Bars of what texts cost have the numbers that they are given, and names that Plotly does not read."""

import pytest

from viz.figures.tokens import token_counts


def test_each_tokenizer_has_a_bar_for_each_text():
    figure = token_counts(["a <b>number</b>", "an emoji"], {"mine": [7, 4], "<i>other</i>": [1, 2]})
    assert [list(bar.x) for bar in figure.data] == [[7, 4], [1, 2]]
    assert [list(bar.text) for bar in figure.data] == [["7", "4"], ["1", "2"]]
    assert "<" not in figure.data[0].y[0] + figure.data[1].name
    assert figure.data[0].marker.color != figure.data[1].marker.color


def test_a_count_that_is_missing_is_said():
    with pytest.raises(ValueError, match="There are 2 texts, and other"):
        token_counts(["a", "b"], {"mine": [1, 2], "other": [1]})
