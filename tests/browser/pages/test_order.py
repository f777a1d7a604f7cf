"""Page "Inside" in a real browser: a word is dragged, numbers and pictures change, and as typed they are back."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.browser.places import box_at_rest

WAIT = 60_000


def numbers(page: Page):
    """What is predicted at the mask without and with positions."""
    return page.locator("[data-part^=token] .number")


def test_a_word_is_dragged_and_comes_back(open_page):
    page = open_page("/inside?model=filler&text=The+[MASK]+dog+gave+me+a+bone.&level=intermediate&word-order=typed")
    page.locator(".hl-way-view .stop", has_text="Order").first.click(timeout=WAIT)
    part = page.locator(".st-key-inside-stage")
    words = part.locator(".hl-order-view .chip .text")
    expect(words).to_have_text(["The", "[MASK]", "dog", "gave", "me", "a", "bone."])
    back = part.get_by_role("button", name="As typed")
    expect(back).to_be_disabled()
    above = part.locator("[data-part='token with positions'] .words").first
    bare = part.locator("[data-part='token without positions'] .words").first
    expect(above).to_contain_text("the same", timeout=WAIT)
    typed = numbers(page).all_inner_texts()
    start, end = (box_at_rest(part.locator(".hl-order-view .chip", has_text=word)) for word in ("dog", "bone."))
    page.mouse.move(start["x"] + 12, start["y"] + 12)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] - 3, end["y"] + 14, steps=5)
    page.mouse.up()
    expect(words).to_have_text(["The", "[MASK]", "gave", "me", "a", "bone.", "dog"])
    expect(above).to_contain_text("has gone to other tokens", timeout=WAIT)
    expect(bare).to_contain_text("the same")  # without positions an encoder cannot tell
    expect(page).to_have_url(re.compile(r"word-order=0\.1\.3\.4\.5\.6\.2"))
    assert numbers(page).all_inner_texts() != typed
    expect(part.locator("[data-part^=map-after]")).to_have_count(2)
    back.click()
    expect(words).to_have_text(["The", "[MASK]", "dog", "gave", "me", "a", "bone."])
    expect(above).to_contain_text("the same")
    assert numbers(page).all_inner_texts() == typed
    expect(page).to_have_url(re.compile("word-order=typed"))
