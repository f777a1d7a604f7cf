"""Words are put into another order by dragging, by pressing and with the keyboard, in a real browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from viz import order_view

WORDS = ["one", "two", "three", "four"]


@pytest.fixture
def page(draw) -> Page:
    drawn_page: Page = draw(order_view(WORDS, range(4)))
    return drawn_page


def chip(page: Page, word: str):
    return page.locator(".chip", has_text=word)


def in_order(page: Page, *words: str) -> None:
    expect(page.locator(".chip .text")).to_have_text(list(words))


def sent_orders(page: Page) -> list[str]:
    """The orders that the page was told of."""
    return page.evaluate("() => told.map(({ value }) => value.order.join(''))")


def test_a_word_is_dragged_to_another_place_and_says_where_it_stood(page):
    start, end = chip(page, "one").bounding_box(), chip(page, "three").bounding_box()
    page.mouse.move(start["x"] + 10, start["y"] + 10)
    page.mouse.down()
    page.mouse.move(end["x"] + end["width"] - 4, end["y"] + 12, steps=4)
    expect(page.locator(".mark-of-place")).to_be_visible()
    in_order(page, *WORDS)  # nothing else moves before it is let go
    page.mouse.up()
    in_order(page, "two", "three", "one", "four")
    expect(chip(page, "one").locator("small")).to_have_text("1")
    expect(page.locator(".mark-of-place")).to_have_count(0)
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)
    assert sent_orders(page) == ["1203"]


def test_a_word_is_pressed_and_then_its_place(page):
    chip(page, "four").click()
    expect(chip(page, "four")).to_have_attribute("aria-pressed", "true")
    chip(page, "two").click()
    in_order(page, "one", "four", "two", "three")
    chip(page, "one").click()
    chip(page, "one").click()  # pressed again it stays
    expect(page.locator("[aria-pressed=true]")).to_have_count(0)
    assert sent_orders(page) == ["0312"]


def test_a_word_is_moved_with_the_keyboard_and_escape_puts_it_back(page):
    page.keyboard.press("Tab")
    expect(chip(page, "one")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(chip(page, "two")).to_be_focused()
    page.keyboard.press("Space")
    page.keyboard.press("End")
    in_order(page, "one", "three", "four", "two")
    expect(chip(page, "two")).to_be_focused()
    page.keyboard.press("Escape")
    in_order(page, *WORDS)
    assert sent_orders(page) == []
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    in_order(page, "two", "one", "three", "four")
    expect(chip(page, "two")).to_have_attribute("aria-label", "two, word 1 of 4, typed as word 2")
    expect(page.locator("[aria-live]")).to_have_text("It is put down.")
    assert sent_orders(page) == ["1023"]


def test_the_only_word_can_be_dragged_and_stays(draw):
    page = draw(order_view(["one"], [0]))
    box = chip(page, "one").bounding_box()
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 80, box["y"] + 12, steps=3)
    expect(page.locator(".dragged")).to_have_count(1)
    page.mouse.up()
    in_order(page, "one")
    expect(page.locator(".dragged, .mark-of-place")).to_have_count(0)
    assert sent_orders(page) == []
