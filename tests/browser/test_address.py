"""Back, forward, and what stays when something leaves the page."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

BOX = "Your text"
START = 60_000  # milliseconds that a fresh server may take


def choose(page: Page, name: str, has: str) -> None:
    page.get_by_role("link", name=name).click()
    expect(page.locator(has).first).to_be_visible(timeout=START)


def test_back_and_forward_move_between_pages_and_keep_what_was_typed(open_page):
    page = open_page("/?text=The+cat")
    expect(page.locator("[data-part=bars]")).to_be_visible(timeout=START)
    before = page.evaluate("history.length")
    box = page.get_by_label(BOX)
    choose(page, "Attention", ".hl-head-view")
    box.press("End")
    box.press_sequentially(" sat", delay=60)
    expect(page).to_have_url(re.compile(r"/attention\?text=The\+cat\+sat$"))
    choose(page, "Layers", "text=To (key)")
    assert page.evaluate("history.length") == before + 2, "a page takes one press of Back"
    for press, path in [
        (page.go_back, "attention"),
        (page.go_back, ""),
        (page.go_forward, "attention"),
        (page.go_forward, "layers"),
    ]:
        press()
        expect(page).to_have_url(re.compile(rf"/{path}\?text=The\+cat\+sat$"))
        expect(box).to_have_value("The cat sat")


def test_each_page_has_an_address_of_its_name(open_page):
    page = open_page("/type?text=Hello+there")
    expect(page.get_by_label(BOX)).to_have_value("Hello there", timeout=START)
    expect(page.get_by_text("Page not found")).to_have_count(0)


def test_a_line_break_is_part_of_a_text_and_the_page_keeps_its_style(open_page):
    page = open_page("/?text=%22Where+have+you+been%3F%22+asked+the+old+woman.")
    guess = page.locator("[data-part=bars]").get_by_text("↵").first
    expect(guess).to_be_visible(timeout=START)
    guess.click()
    expect(page.get_by_label(BOX)).to_have_value('"Where have you been?" asked the old woman.↵')
    expect(page.locator("[data-part=chips] [role=option]").last).to_contain_text("↵")
    width = "getComputedStyle(document.querySelector('.st-key-text [data-testid=stTextInputRootElement]')).borderTopWidth"
    assert page.evaluate(width) == "2px"


def test_a_line_break_in_a_link_is_read(open_page):
    page = open_page("/?text=One%0ATwo")
    expect(page.get_by_label(BOX)).to_have_value("One↵Two", timeout=START)


def test_styles_are_no_part_of_what_can_leave(open_page):
    page = open_page("/")
    expect(page.locator("[data-part=bars]")).to_be_visible(timeout=START)
    assert page.evaluate("document.head.contains(document.getElementById('headlight-style'))")


@pytest.mark.parametrize("path", ["/", "/layers"])
def test_on_a_phone_the_menu_closes_when_a_page_is_chosen(open_page, path):
    page = open_page(path, width=390, height=844)
    expect(page.get_by_label(BOX)).to_be_visible(timeout=START)
    menu = page.get_by_test_id("stSidebar")
    expect(menu).to_have_attribute("data-collapsed", "true")
    page.get_by_test_id("stExpandSidebarButton").click()
    expect(menu).to_have_attribute("data-collapsed", "false")
    page.get_by_role("link", name="Attention").click()
    expect(page.locator(".hl-head-view")).to_be_visible(timeout=START)
    expect(menu).to_have_attribute("data-collapsed", "true")


def test_the_address_follows_a_choice_that_has_another_place_at_another_level(open_page):
    page = open_page("/flow?text=The+cat+sat")
    page.get_by_role("radio", name="Streams").wait_for(timeout=START)
    page.get_by_role("radio", name="Expert").click()
    expect(page.get_by_label("Follow the prediction")).to_be_visible(timeout=START)
    page.get_by_role("radio", name="Streams").click()
    expect(page).to_have_url(re.compile("show=Streams"), timeout=START)
