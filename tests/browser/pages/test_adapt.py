"""Page "Adapt" in a real browser: a model is taught, dialled, switched off, taken away and opened again."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages.test_train import saved
from tests.browser.places import in_menu
from tests.browser.test_accessible import FITS, violations

WAIT = 60_000
TREE = "In our garden grows a tree made of"


def teach(open_page: Callable[..., Page], level: str, *window: object) -> Page:
    page = open_page(f"/adapt?level={level}", *window)
    start = page.get_by_role("button", name="Start", exact=True)
    expect(start).to_be_enabled(timeout=WAIT)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
    start.click()
    expect(page.get_by_text("Done: 30 steps")).to_be_visible(timeout=WAIT)
    return page


def first_guess(page: Page, word: str) -> None:
    expect(page.locator("[data-part=bars]").get_by_role("button").first).to_contain_text(word, timeout=WAIT)


def dial(page: Page, keys: str, strength: str) -> None:
    slider = page.get_by_role("slider", name="Strength of what was taught")
    slider.focus()
    page.keyboard.press(keys)
    expect(page.get_by_role("combobox", name="Model")).to_have_value(re.compile(strength), timeout=WAIT)


def test_an_adapter_is_taught_dialled_switched_off_and_opened_again_from_its_folder(open_page, tmp_path):
    """It takes a quarter of a minute: a model learns thirty steps, opens at three strengths, and is opened from a folder."""
    page = teach(open_page, "intermediate")
    expect(page.get_by_role("cell", name="Rex.")).to_be_visible(timeout=WAIT)
    with zipfile.ZipFile(io.BytesIO(saved(page, "Adapter (zip)"))) as archive:
        archive.extractall(tmp_path)
    (folder,) = {path.parent for path in tmp_path.rglob("adapter_config.json")}
    page.get_by_role("button", name="Open on all pages").click()
    in_menu(page, "Type").click()  # before a run of the page has answered
    expect(page.get_by_role("combobox", name="Model")).to_have_value(re.compile("taught writer"), timeout=WAIT)
    page.get_by_label("Your text").fill(TREE)
    first_guess(page, "glass")
    dial(page, "Home", "at 0 %")
    first_guess(page, "wood")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("combobox", name="Model")).to_have_value(re.compile("at 50 %"), timeout=WAIT)
    dial(page, "End", "30 steps$")
    first_guess(page, "glass")
    picker = page.get_by_role("combobox", name="Model")
    picker.click()
    picker.fill(str(folder))
    picker.press("Enter")
    expect(page).to_have_url(re.compile(f"model=.*{folder.name}"), timeout=WAIT)
    first_guess(page, "glass")
    dial(page, "Home", "at 0 %")
    first_guess(page, "wood")


@pytest.mark.parametrize(("level", "window"), [("beginner", (390, 844, True)), ("expert", (1280, 800, False))])
def test_its_parts_are_there_at_each_width_and_what_is_asked_in_other_words_is_answered(open_page, level, window):
    """It takes a third of a minute: a model learns thirty steps, and axe looks at two parts."""
    page = teach(open_page, level, *window)
    asked = page.get_by_label("The beginning of a sentence in other words")
    asked.fill("The name of my dog is", timeout=WAIT)
    asked.press("Enter")
    expect(page.get_by_role("row", name=re.compile("The name of my dog is.*Rex"))).to_be_visible(timeout=WAIT)
    for part in ("Strength", "Learning") if level == "beginner" else ("Strength", "Weights"):
        page.get_by_test_id("stMain").get_by_role("radio", name=part, exact=True).click()
        page.mouse.move(0, 0)
        expect(page.locator(".js-plotly-plot").first).to_be_visible(timeout=WAIT)
        expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
        assert not (grave := violations(page)), "\n".join(grave)
        page.wait_for_function(FITS)
