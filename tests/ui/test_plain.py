"""What a model or a visitor brought is shown as it is: never as Markdown, with which a page would fetch an image."""

from __future__ import annotations

import re
import shutil
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from models.catalog import WEIGHTS
from tests.pages.opening import open_link, words_on
from ui.escaping import plain
from ui.memory import allowed, loaded

IMAGE = "![x](http://evil.example/x.png)"
EVIL = f"{IMAGE} :red[x] ` :red[x] <img src=x onerror=alert(1)>"


@given(st.text())
def test_no_mark_stays_unescaped_and_no_letter_is_lost(text):
    shown = plain(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[*_\[\]!<>$`~:]", shown) or "\\" in text
    assert re.sub(r"\\([^a-zA-Z0-9\s])", r"\1", shown) == re.sub(r"\s+", " ", text)


def page(mask: str) -> None:
    from models.info import ModelInfo
    from ui.choices import text_boxes

    text_boxes.example_menu(ModelInfo("owner/name", "encoder", 1, 1, 1, 1, 1, None, 1, "", mask=mask))


@pytest.mark.parametrize("mask", [IMAGE, ":red[x]", "[x](http://evil.example)", "$x$"])
def test_a_mask_token_in_the_menu_of_examples_is_text(mask):
    ran = AppTest.from_function(page, args=(mask,), default_timeout=60).run()
    assert not ran.exception
    menu = str(ran.get("menu_button")[0].proto)
    assert mask not in menu and "x" in menu


def marked(app: AppTest) -> list[str]:
    """What on a page is an image, a link to elsewhere, colour or HTML and was not meant to be: in words, and on controls."""
    words = [element.value for kind in ("markdown", "caption", "warning", "info", "error") for element in app.get(kind)]
    labels = [element.label for kind in ("button", "selectbox", "text_input", "toggle", "radio") for element in app.get(kind)]
    code = re.compile("`[^`]*`")  # in which no mark means anything
    return [text for text in words + labels if re.search(r"(?<!\\)(!\[x\]|:red\[|\]\(http://evil|<img)", code.sub("", text))]


@pytest.mark.parametrize(
    ("page", "name"),
    [
        ("type", "text"),
        ("type", "level"),
        ("attention", "view"),
        ("attention", "head"),
        ("lessons", "lesson"),
        ("room", "room"),
        ("type", "model"),
        ("attention", "other-model"),
    ],
)
def test_whatever_a_link_holds_is_text_on_the_page(page, name):
    app = open_link(page, urlencode({name: EVIL, "two-texts": "true", "level": "expert"} | {name: EVIL}))
    assert not app.exception and marked(app) == []


def test_the_name_of_a_folder_is_text_on_the_page(tmp_path, monkeypatch):
    folder = str(shutil.copytree(WEIGHTS / "writer", tmp_path / EVIL.replace("/", "")))
    monkeypatch.setattr(allowed, "folders", lambda: allowed.roots(address="localhost"))
    loaded.model(folder)
    app = open_link("attention", urlencode({"model": folder, "level": "expert"}))
    assert "onerror" in words_on(app), "else this test could not fail"
    assert not app.exception and marked(app) == []
