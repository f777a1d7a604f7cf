"""A word of the field on a page: pressed, read, closed by its key, and followed to where it is shown."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_accessible import violations
from ui.lexicon import files

WAIT = 25_000


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)], ids=["desktop", "phone"])
def test_a_word_is_pressed_read_closed_and_followed(open_page, width, dark):
    page = open_page("/?text=The+cat+sat&level=intermediate", width, 844, dark)
    head, probability = files.entries()["head"], files.entries()["probability"]
    word = page.get_by_role("link", name="head", exact=True)
    frame = page.get_by_role("dialog", name="head", exact=True)
    word.click(timeout=WAIT)
    expect(frame).to_contain_text(head.meanings[1])
    expect(frame).to_be_focused()
    box = frame.bounding_box()
    assert box and box["x"] >= 0 and box["x"] + box["width"] <= width, "all of it is on the screen"
    assert not violations(page)
    page.keyboard.press("Escape")
    expect(frame).to_be_hidden()
    expect(word).to_be_focused()

    page.get_by_role("link", name="probability", exact=True).focus()  # inside of a view, and by keys alone
    page.keyboard.press("Enter")
    other = page.get_by_role("dialog", name="probability", exact=True)
    expect(other).to_contain_text(probability.meanings[1])
    page.keyboard.press("Escape")
    expect(other).to_be_hidden()

    box = page.get_by_role("textbox", name="Your text")
    box.fill("The cat sat on the")  # a key press leaves each word marked where it was
    expect(page.get_by_role("link", name="probability", exact=True)).to_have_count(1)
    expect(page).to_have_url(re.compile(r"text=The(\+|%20)cat(\+|%20)sat(\+|%20)on"), timeout=WAIT)

    word.focus()
    page.keyboard.press("Enter")
    expect(frame).to_be_focused()
    page.keyboard.press("Tab")
    expect(frame.get_by_role("link", name="See it on page Attention", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Attention", timeout=WAIT)
    expect(box).to_have_value("The cat sat on the")
    expect(page).to_have_url(re.compile(r"/attention\?.*level=intermediate"))

    page.get_by_role("link", name="heads", exact=True).click()
    all_words = frame.get_by_role("link", name="All words", exact=True)
    expect(all_words).to_have_attribute("href", re.compile(r"#all-(?!undefined)[a-z-]+$"))
    all_words.click()
    page.get_by_role("textbox", name="Look for a word").fill("nucleus", timeout=WAIT)
    every = page.locator(".st-key-wordlist")
    expect(every.get_by_role("link")).to_have_count(2, timeout=WAIT)
    assert not violations(page)
    every.get_by_role("link", name="See it on page Generate", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Generate", timeout=WAIT)
    expect(page).to_have_url(re.compile("generate-top-p=0.9"))
    expect(box).to_have_value("The cat sat on the")


def test_a_word_in_the_address_is_explained_as_one_that_was_pressed_before_the_page_could_answer(open_page):
    page = open_page("/?text=The+cat+sat&level=intermediate#w-head")
    expect(page.get_by_role("dialog", name="head", exact=True)).to_contain_text(files.entries()["head"].meanings[1], timeout=WAIT)
    assert "#" not in page.url


def test_tab_passes_by_a_frame_that_the_focus_alone_has_opened_and_enter_goes_into_it(open_page):
    page = open_page("/attention?view=Reading")
    mark, frame = page.locator('.stMain a[href^="#w-"]').last, page.locator("#headlight-word")
    expect(mark).to_be_visible(timeout=60_000)
    page.wait_for_function("() => window.headlightWords")
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=60_000)
    for _ in range(10):  # what is still being drawn is placed anew, without the focus
        page.keyboard.press("Tab")
        mark.focus()
        page.wait_for_timeout(1000)
        if frame.is_visible():
            break
    expect(frame).to_be_visible()
    page.keyboard.press("Tab")
    expect(frame).to_be_hidden()
    assert not mark.evaluate("one => one === document.activeElement"), "the focus is not sent back"
    mark.focus()
    expect(frame).to_be_visible()
    assert frame.evaluate("one => one.inert")
    page.keyboard.press("Enter")
    expect(frame).to_be_focused()
