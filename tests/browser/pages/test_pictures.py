"""Page "Type" with a model of pictures, as a person uses it: an example, hidden patches, a drawing, a file."""

from __future__ import annotations

import re
import time

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

import models
from tests.browser.places import APART
from tests.browser.test_accessible import violations
from viz.numbers import percent

WAIT = 30_000
IN_ADDRESS = """() => {
    const text = document.querySelector(".st-key-text input").value;
    return /[1-9a-f]/.test(text.slice(-8)) && new URL(location.href).searchParams.get("text") === text;
}"""


def first_bar(page: Page):
    return page.locator("[data-part=bars]").get_by_role("button").first


def expect_answer(page: Page, text: str) -> None:
    """Waits until the bars have what the model says of the picture that a text names."""
    best = models.load("digits").predict(text, top=1)[0]
    expect(first_bar(page)).to_contain_text(percent(best.probability), timeout=WAIT)
    expect(first_bar(page)).to_contain_text(best.text)


def text_of(page: Page) -> str:
    return page.locator(".st-key-text input").input_value()


def text_that_is_answered(page: Page) -> str:
    """The text in the box, once the bars answer it: the last strokes of the mouse may come late."""
    until = time.monotonic() + WAIT / 1000
    while True:
        text = text_of(page)
        if percent(models.load("digits").predict(text, top=1)[0].probability) in first_bar(page).inner_text():
            return text
        assert time.monotonic() < until, text
        page.wait_for_timeout(APART)


def test_an_example_hidden_patches_and_a_drawing_are_answered_at_once(open_page):
    page = open_page("/?model=digits&level=intermediate")
    expect_answer(page, "digit 3")
    page.get_by_role("radio", name="digit 8", exact=True).click()
    expect_answer(page, "digit 8")
    page.get_by_role("button", name="hide patches").click()
    patches = page.locator(".hl-patch-view .patch")
    above, below = (patches.nth(place).bounding_box() for place in (5, 9))  # row 2 and row 3, column 2
    page.mouse.move(above["x"] + 20, above["y"] + 20)
    page.mouse.down()
    page.mouse.move(below["x"] + 20, below["y"] + 20, steps=6)
    page.mouse.up()
    expect_answer(page, "digit 8 without 2.2 3.2")
    assert text_of(page) == "digit 8 without 2.2 3.2"
    page.get_by_role("button", name="Show all patches").click()
    expect_answer(page, "digit 8")
    page.get_by_role("button", name="Clear", exact=True).click()
    expect_answer(page, "drawn " + "0" * 64)
    box = page.locator("canvas.pad").bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + 6)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] - 6, steps=12)
    page.mouse.up()
    page.wait_for_function(IN_ADDRESS, timeout=WAIT)  # down to the last row
    drawn = text_that_is_answered(page)
    assert drawn.startswith("drawn 000") and set(drawn[6:]) != {"0"}
    page.reload()
    expect_answer(page, drawn)


def test_a_picture_of_ones_own_is_read_and_one_that_is_none_is_refused(open_page, tmp_path):
    page = open_page("/?model=digits")
    expect_answer_of_beginner(page)
    file, broken = tmp_path / "mine.png", tmp_path / "broken.png"
    Image.fromarray(np.full((300, 200, 3), 255, np.uint8)).save(file)
    broken.write_bytes(b"no picture")
    for path in (broken, file):
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Your own picture …").click()
        chooser.value.set_files(path)
        if path == broken:
            expect(page.get_by_text("is not an image that your browser can open")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("Your picture is in this server’s memory")).to_be_visible(timeout=WAIT)
    expect(page.locator(".st-key-text input")).to_have_value(re.compile("^picture-"), timeout=WAIT)


def expect_answer_of_beginner(page: Page) -> None:
    expect(first_bar(page)).to_contain_text("97", timeout=WAIT)


@pytest.mark.parametrize(("level", "width"), [("beginner", 390), ("expert", 1280)])
def test_it_works_by_keys_and_has_no_grave_faults_for_screen_readers(open_page, level, width):
    page = open_page(f"/?model=digits&level={level}", width, 844)
    expect(first_bar(page)).to_be_visible(timeout=WAIT)
    patches = page.locator(".hl-patch-view").get_by_role("option")
    expect(patches).to_have_count(17)
    patches.first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(patches.nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    expect(patches.nth(2)).to_have_attribute("aria-selected", "true", timeout=WAIT)
    page.get_by_role("radio", name="digit 3", exact=True).focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="digit 4", exact=True)).to_have_attribute("aria-checked", "true", timeout=WAIT)
    assert not (grave := violations(page)), "\n".join(grave)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


@pytest.mark.parametrize(("level", "width"), [("beginner", 390), ("intermediate", 1280), ("expert", 390)])
def test_page_heads_opens_a_head_and_its_map_on_the_picture(open_page, level, width):
    page = open_page(f"/heads?model=digits&level={level}&layer=L0&head=H0", width, 844)
    maps = page.locator(".hl-patch-view")
    expect(maps.first).to_be_visible(timeout=WAIT)
    if level == "beginner":
        expect(maps).to_have_count(4)
    else:
        page.locator(".hl-grid-view").first.get_by_role("grid").focus()
        for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
            page.keyboard.press(key)
        expect(page.get_by_role("heading", name="L1 H2")).to_be_visible(timeout=WAIT)
        expect(page.get_by_text("neighbours + own row").first).to_be_visible(timeout=WAIT)
    patch = maps.first.get_by_role("option").nth(6)
    patch.click()
    expect(patch).to_have_attribute("aria-selected", "true", timeout=WAIT)
    assert not (grave := violations(page)), "\n".join(grave)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


@pytest.mark.parametrize(("level", "width"), [("beginner", 390), ("intermediate", 1280)])
def test_page_change_covers_patches_and_switches_a_head_off(open_page, level, width):
    page = open_page(f"/change?model=digits&text=digit+8&level={level}", width, 844)
    bars = page.locator("[data-part=bars]")
    expect(bars).to_contain_text("8", timeout=WAIT)
    expect(page.get_by_role("button", name="As it was")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="hide patches").click()
    patches = page.locator(".hl-patch-view").first.locator(".patch")
    patches.nth(13).scroll_into_view_if_needed()  # a patch below those that are dragged over
    above, below = (patches.nth(place).bounding_box() for place in (5, 9))
    page.mouse.move(above["x"] + 20, above["y"] + 20)
    page.mouse.down()
    page.mouse.move(below["x"] + 20, below["y"] + 20, steps=6)
    page.mouse.up()
    expect(page.locator(".hl-patch-view")).to_have_count(2, timeout=WAIT)
    expect(page).to_have_url(re.compile("without"), timeout=WAIT)
    expect(bars).to_contain_text("3", timeout=WAIT)
    page.locator("[data-part=parts]").get_by_role("grid").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"changes=h1[.]3"), timeout=WAIT)
    assert not (grave := violations(page)), "\n".join(grave)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


@pytest.mark.parametrize(("level", "width"), [("beginner", 1280), ("intermediate", 390)])
def test_page_overview_leads_a_picture_to_its_label(open_page, level, width):
    page = open_page(f"/overview?model=digits&text=digit+8&level={level}", width, 844)
    patches = page.locator(".hl-stations-view .token .patch")
    expect(patches).to_have_count(14, timeout=WAIT)
    painted = patches.nth(1).evaluate("canvas => [...canvas.getContext('2d').getImageData(0, 0, 2, 2).data]")
    trace = models.load("digits").trace("digit 8")
    assert painted == [channel for pixel in trace.tokens[2].picture.reshape(-1, 3).tolist() for channel in (*pixel, 255)]
    expect(page.locator(".outcome").first).to_contain_text("8")
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".hl-stations-view .said")).to_contain_text("patch", timeout=WAIT)
    assert not (grave := violations(page)), "\n".join(grave)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


@pytest.mark.parametrize("width", [390, 1280])
def test_page_flow_draws_two_methods_after_each_layer_on_the_picture(open_page, width):
    page = open_page("/flow?model=digits&text=digit+8&level=intermediate&show=Layer+by+layer", width, 844)
    maps = page.locator(".hl-patch-view")
    expect(maps).to_have_count(6, timeout=WAIT)
    expect(page.get_by_text("After L2")).to_be_visible(timeout=WAIT)
    assert not (grave := violations(page)), "\n".join(grave)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")


@pytest.mark.parametrize(("level", "width"), [("beginner", 390), ("expert", 1280)])
def test_page_flow_draws_each_method_on_the_picture(open_page, level, width):
    page = open_page(f"/flow?model=digits&text=digit+8&level={level}", width, 844)
    maps = page.locator(".hl-patch-view")
    expect(maps).to_have_count(3 if level == "beginner" else 5, timeout=WAIT)
    expect(maps.first).to_contain_text("Largest: row", timeout=WAIT)
    assert not (grave := violations(page)), "\n".join(grave)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth + 1")
