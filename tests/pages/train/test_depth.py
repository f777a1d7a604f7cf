"""The gradients by depth on page Train: the numbers of the sentence are those of the measurement."""

from __future__ import annotations

import re

import numpy as np
import pytest

from analysis.depth import gradients_by_depth
from pages.train.depth import factors
from tests.pages.opening import finish, open_link, words_on


@pytest.mark.parametrize("level", ["intermediate", "expert"])
def test_the_first_layer_stands_beside_the_last(level):
    app = open_link("train", f"level={level}")
    (button,) = (button for button in app.button if button.label == "Measure it")
    app = finish(button.click().run())
    words, numbers = words_on(app), factors(gradients_by_depth())
    assert not app.exception and all(number in words for number in numbers.values())


def test_a_factor_is_the_geometric_mean_over_the_seeds():
    values = {("before", True): np.array([[1.0, 5.0, 2.0], [4.0, 5.0, 2.0]]), ("after", False): np.ones((2, 3))}
    assert factors(values) == {"before": "1", "after_none": "1"}


def test_beginners_have_none():
    assert not [fold for fold in open_link("train", "level=beginner").expander if re.search("Depth", fold.label)]
