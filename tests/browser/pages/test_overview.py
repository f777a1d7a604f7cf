"""Page "Overview" as a person uses it: the picture is in sight as a whole, and its stations lead on."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages.test_type import box, no_error

WAIT = 60_000


def ready(page: Page) -> Page:
    expect(page.locator(".hl-stations-view .token").first).to_be_visible(timeout=WAIT)
    return page


@pytest.mark.parametrize(
    ("level", "model"),
    [
        ("beginner", "writer"),
        ("intermediate", "translator"),
        ("expert", "writer"),
    ],
)
def test_the_whole_picture_is_in_sight(open_page, level, model):
    page = ready(open_page(f"/overview?level={level}&model={model}", dark=level == "expert"))
    place = page.locator(".hl-stations-view").bounding_box()
    assert place and place["y"] + place["height"] <= 800
    if level == "expert":
        expect(page.locator(".hl-stations-view .wait")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    no_error(page)


def test_a_telephone_has_the_stations_below_each_other(open_page):
    page = ready(open_page("/overview", width=390, height=844))
    tops = [box["y"] for node in page.locator(".hl-stations-view .head").all() if (box := node.bounding_box())]
    assert len(tops) == 7 and tops == sorted(tops)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_station_opens_its_page_with_the_same_choices(open_page):
    page = ready(open_page("/overview?level=intermediate&layer=L4&head=H2&token=5&text=The+farmer+gave+the+hungry+dog"))
    page.get_by_role("link", name="Looking").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Attention", timeout=WAIT)
    expect(page).to_have_url(re.compile(r"/attention\?.*layer=L4.*head=H2.*token=5"))
    expect(box(page)).to_have_value("The farmer gave the hungry dog")


def test_a_key_press_and_a_guess_go_on_with_the_text(open_page):
    page = ready(open_page("/overview?text=The+cat+sat+on+the"))
    first = page.locator(".hl-stations-view .outcome").first
    word = first.locator("bdi").inner_text()
    first.click()
    expect(box(page)).to_have_value(f"The cat sat on the {word}", timeout=WAIT)
    expect(page.locator(".hl-stations-view .token").last).to_have_text(word)
    box(page).press("End")
    page.keyboard.type(" and")
    expect(page.locator(".hl-stations-view .token").last).to_have_text("and")


def test_a_newcomer_begins_at_the_first_station(open_page):
    page = ready(open_page("/overview?level=intermediate"))
    now, sentence = page.locator(".hl-stations-view .head.now strong"), page.locator(".hl-stations-view .said")
    expect(now).to_have_text("Tokens")
    expect(page.locator(".hl-stations-view .head.wait")).to_have_count(6)
    first = sentence.inner_text()
    assert "tokens" in first
    page.get_by_role("button", name="Play").click()
    expect(now).not_to_have_text("Tokens")
    expect(sentence).not_to_have_text(first)


@pytest.mark.parametrize("model", ["writer", "translator"])
@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_no_sentence_moves_the_picture(open_page, level, model):
    page = ready(open_page(f"/overview?level={level}&model={model}"))
    above, step = page.locator(".hl-stations-view .top"), page.get_by_role("button", name="One step on")
    page.get_by_role("slider", name="Station").press("Home")
    heights = []
    while True:
        heights.append(above.bounding_box()["height"])
        if step.is_disabled():
            break
        step.click()
    assert len(heights) > 7 and len({round(height) for height in heights}) == 1, heights


def test_typing_shows_the_whole_again(open_page):
    page = ready(open_page("/overview"))
    expect(page.locator(".hl-stations-view .head.wait")).to_have_count(6)
    box(page).press("End")
    page.keyboard.type(" old")
    expect(page.locator(".hl-stations-view .token").last).to_have_text("old")
    expect(page.locator(".hl-stations-view .wait")).to_have_count(0)


def test_who_knows_what_to_look_at_sees_the_whole_at_once(open_page):
    page = ready(open_page("/overview?token=3"))
    expect(page.locator(".hl-stations-view .wait")).to_have_count(0)


def test_another_level_leaves_the_station(open_page):
    page = ready(open_page("/overview?level=beginner"))
    page.get_by_role("button", name="One step on").click()
    expect(page.locator(".hl-stations-view .head.now strong")).to_have_text("Numbers")
    page.get_by_role("radio", name="intermediate").or_(page.get_by_role("button", name="intermediate")).first.click()
    expect(page.locator(".hl-stations-view .head.now strong")).to_have_text("Vectors", timeout=WAIT)
