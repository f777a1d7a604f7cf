"""The view "Model" of page Attention: how many heads do what in a text."""

from __future__ import annotations

import re

import numpy as np

import models
from tests.pages.levels import read
from tests.pages.opening import open_link


def test_the_heads_of_each_pattern_are_counted():
    text = "Tom had a ball, and his dog ran after the"
    words = read(open_link("attention", f"view=Model&level=intermediate&text={text.replace(' ', '+')}"))
    total, counts = re.search(r"Of the (\d+) heads, in this text: ([^.]*)\.", words).groups()
    counted = {name: int(count) for count, name in re.findall(r"\*\*(\d+)\*\* ([a-z ]+)", counts)}
    attention = models.load("writer").trace(text).attention["self"]
    weights = np.array([attention[layer] for layer in range(attention.layers)])[:, :, 1:]
    itself, before = (weights.diagonal(offset, -2, -1).mean(-1) for offset in (1, 0))
    assert (
        counted["look mostly at the token itself"] == (itself >= 0.4).sum() == 5
        and counted["look mostly at the token before"] == (before >= 0.4).sum() == 3
    )
    assert sum(counted.values()) == int(total) == 48
    assert [*counted.values()] == sorted(counted.values(), reverse=True)
