"""Page "Inside" in a real browser: a number is taken apart and followed back, and what was followed stands in the link."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

WAIT = 60_000
LINK = "/inside?text=The+cat+sat&level=intermediate&layer=L0"


def stage(page: Page):
    """The name of the stage that is open."""
    return page.locator(".hl-way-view .stop[aria-expanded=true] .name")


def total(page: Page):
    return page.locator(".hl-sum-view .total")


def follow(page: Page, number: int = 0) -> None:
    page.locator(".hl-sum-view .follow").nth(number).click()


def test_a_number_is_followed_back_to_the_ids_and_the_trail_leads_to_it_again(open_page):
    page = open_page(LINK)
    page.locator(".hl-way-view:not(.strip) .stop", has_text="Queries").first.click(timeout=WAIT)
    expect(stage(page)).to_have_text("Queries")
    page.locator("[data-part=matrix] .box").click(position={"x": 8, "y": 60})
    expect(page).to_have_url(re.compile(r"cell=\d+\.\d+\.0"))
    began = total(page).get_attribute("aria-label")
    for name in ("Norm", "Residual stream", "Embeddings", "Ids"):
        follow(page)
        expect(stage(page)).to_have_text(name)
    expect(page.locator(".hl-token-chips")).to_be_visible()
    expect(page).to_have_url(re.compile("stage=ids.*trail=queries"))
    trail = page.locator(".hl-sum-view .trail button")
    expect(trail).to_have_count(4)
    trail.first.click()
    expect(stage(page)).to_have_text("Queries")
    expect(total(page)).to_have_attribute("aria-label", began)


def test_the_strip_opens_a_stage_and_a_press_on_its_line_closes_it(open_page):
    page = open_page(LINK)
    page.locator(".hl-way-view.strip .stop", has_text="Weights").click(timeout=WAIT)
    expect(stage(page)).to_have_text("Weights")
    expect(page.locator(".hl-way-view.strip [aria-pressed=true]")).to_have_text("Weights")
    page.locator(".hl-way-view .stop[aria-expanded=true]").click()
    expect(stage(page)).to_have_count(0)
    expect(page.locator(".hl-sum-view")).to_have_count(0)


def test_a_neuron_that_is_pressed_says_what_it_does_and_stands_in_the_link(open_page):
    page = open_page(f"{LINK}&stage=feed-forward")
    rows = page.locator("[data-part=neurons]").get_by_role("button")
    expect(rows.first).to_have_class(re.compile("marked"), timeout=WAIT)
    number = rows.nth(3).locator(".text").inner_text()
    rows.nth(3).click()
    expect(page.get_by_role("heading", name=f"Neuron {number}", exact=True)).to_be_visible(timeout=WAIT)
    expect(page).to_have_url(re.compile(rf"neuron={number}(&|$)"))
    expect(rows.nth(3)).to_have_class(re.compile("marked"))
    expect(page.locator("[data-part=towards]").get_by_role("button")).to_have_count(8)
    expect(page.get_by_role("heading", name="Where else it fires", exact=True)).to_be_visible()
    expect(page.locator(".st-key-inside-sample .box")).to_be_visible(timeout=WAIT)
