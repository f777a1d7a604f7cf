"""What a model or a visitor brought is shown as it is: never as Markdown, with which a page would fetch an image."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from ui.text import plain

IMAGE = "![x](http://evil.example/x.png)"


@given(st.text())
def test_no_mark_stays_unescaped_and_no_letter_is_lost(text):
    shown = plain(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_\[\]!<>$`~:]", shown) or "\\" in text
    assert re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", shown) == re.sub(r"\s+", " ", text)


def page(mask: str) -> None:
    from models.language_model import ModelInfo
    from ui.choices import boxes

    boxes.example_menu(ModelInfo("owner/name", "encoder", 1, 1, 1, 1, 1, None, 1, "", mask=mask))


@pytest.mark.parametrize("mask", [IMAGE, ":red[x]", "[x](http://evil.example)", "$x$"])
def test_a_mask_token_in_the_menu_of_examples_is_text(mask):
    ran = AppTest.from_function(page, args=(mask,), default_timeout=60).run()
    assert not ran.exception
    menu = str(ran.get("menu_button")[0].proto)
    assert mask not in menu and "x" in menu
