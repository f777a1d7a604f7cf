"""A picture of each page, taken away by hand: what its files say is what is on screen."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages.test_take_away import WAIT, button, fold, take
from tests.browser.pages.test_type import no_error
from tests.browser.views.test_export import NAMESPACE, alone

TEXT = "The+dog+saw+the+dog"
PICTURES = [  # an address, which picture, words in it, and an array of its NPZ
    ("/flow?level=expert", "Rollout", ["dog", "saw"], "share"),
    ("/build?level=beginner&build=Architecture", "Architecture", ["Embedding", "Attention"], "times"),
    ("/inside?level=expert&stage=order&word-order=0.2.1.3.4", "The words in their order", ["dog", "saw"], "typed_as"),
]


def words_in(file: Path) -> str:
    svg = file.read_text("utf-8")
    alone(svg)
    words = " ".join("".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{{{NAMESPACE}}}text"))
    return " ".join(words.split())


def choose(page: Page, title: str) -> None:
    page.get_by_role("combobox", name="Which picture").click()
    page.get_by_role("option", name=title, exact=True).click()
    expect(page.get_by_test_id("stCode").filter(has_text=title)).to_be_visible()


@pytest.mark.parametrize(("address", "title", "phrases", "array"), PICTURES, ids=lambda value: str(value)[:24])
def test_a_picture_in_every_form(open_page, tmp_path, address, title, phrases, array):
    page = open_page(f"{address}&text={TEXT}")
    expect(button(page)).to_be_visible(timeout=WAIT)
    no_error(page)
    button(page).click()
    expect(page.get_by_test_id("stCode").or_(page.get_by_role("combobox", name="Which picture")).first).to_be_visible()
    if page.get_by_role("combobox", name="Which picture").count():
        choose(page, title)
    words = words_in(take(page, "SVG", tmp_path))
    assert all(phrase in words for phrase in phrases), words
    take(page, "PNG", tmp_path)
    table = pd.read_csv(take(page, "CSV", tmp_path))
    if "level=beginner" in address:
        expect(page.get_by_role("button", name="NPZ", exact=True)).to_have_count(0)
        assert array in table
    else:
        values = np.load(take(page, "NPZ", tmp_path), allow_pickle=False)[array]
        np.testing.assert_allclose(table[array.replace(" ", "_")], values.ravel())
    nbformat.validate(nbformat.read(take(page, "Notebook", tmp_path), as_version=4))
    html = take(page, "HTML", tmp_path)
    fold(page)
    page.context.set_offline(True)
    page.goto(html.as_uri())
    expect(page.locator(".caption")).to_contain_text(title)
    shown = " ".join(page.locator("body").inner_text().split())
    assert all(phrase in shown for phrase in phrases), shown
