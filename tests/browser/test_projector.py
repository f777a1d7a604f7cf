"""Projector mode, as a class sees it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

WAIT = 60_000
HEIGHT = "node => node.getBoundingClientRect().height"  # in pixels of the page, as its pictures count them
FITS = "() => document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.mark.parametrize("dark", [False, True])
def test_all_is_larger_the_side_bar_is_gone_and_a_picture_finds_the_pointer(open_page, dark):
    page: Page = open_page("/attention?projector=1&level=expert&view=Head&text=The+cat+sat+on+the+mat", dark=dark)
    labels = page.locator(".side.from .label:visible")
    word = labels.filter(has_text="mat")
    word.hover(timeout=WAIT)
    expect(page.locator(".sentence")).to_contain_text("“mat”")
    assert word.bounding_box()["height"] == pytest.approx(1.3 * word.evaluate(HEIGHT), rel=0.01)
    assert page.evaluate(FITS)
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.get_by_role("button", name="Leave projector mode").click()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()
    expect(word).to_be_visible()
    assert word.bounding_box()["height"] == pytest.approx(word.evaluate(HEIGHT), rel=0.01)


def test_what_a_button_unfolds_ends_within_a_low_window(open_page):
    page: Page = open_page("/attention?projector=1&level=expert&view=Head&text=The+cat+sat+on+the+mat", height=600)
    page.get_by_role("button", name="Take it away").click(timeout=WAIT)
    page.get_by_role("button", name="PNG").hover(timeout=WAIT)
    unfolded = page.get_by_test_id("stPopoverBody").bounding_box()
    assert unfolded["y"] + unfolded["height"] <= 600
