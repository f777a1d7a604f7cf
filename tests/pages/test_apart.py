"""Whole words of a text without spaces: the pages that join tokens say that they did not."""

from __future__ import annotations

import pytest

from tests.pages.levels import read
from tests.pages.opening import open_link

SAID = "each token stands by itself"


@pytest.mark.parametrize("page", ["type", "flow"])
def test_it_is_said_where_words_are_asked_for_and_no_spaces_separate_them(page):
    assert SAID in read(open_link(page, "level=intermediate&whole-words=true&text=今天天气很好"))


def test_it_is_not_said_of_words_with_spaces_nor_where_tokens_are_asked_for():
    assert SAID not in read(open_link("type", "level=intermediate&whole-words=true&text=The cat sat"))
    assert SAID not in read(open_link("type", "level=intermediate&text=今天天气很好"))
