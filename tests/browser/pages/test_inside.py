"""Page "Inside" in a real browser: a number is taken apart and followed back, and what was followed stands in the link."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

import models
from models.pieces.apart import pieces_of

WAIT = 60_000
LINK = "/inside?text=The+cat+sat&level=intermediate&layer=L0"


def stage(page: Page):
    """The name of the stage that is open."""
    return page.locator(".hl-way-view .stop[aria-expanded=true] .name")


def total(page: Page):
    return page.locator(".hl-sum-view .total")


def follow(page: Page, number: int = 0) -> None:
    page.locator(".hl-sum-view .follow").nth(number).click()


def the_strip_opens_a_stage_and_a_press_on_its_line_closes_it(page: Page) -> None:
    page.locator(".hl-way-view .stop", has_text="Queries").click(timeout=WAIT)
    expect(stage(page)).to_have_text("2. Queries")
    page.locator(".hl-way-view.strip .stop", has_text="Weights").click(timeout=WAIT)
    expect(stage(page)).to_have_text("6. Weights")
    expect(page.locator(".hl-way-view.strip [aria-pressed=true]")).to_have_text("6. Weights")
    page.locator(".hl-way-view .stop[aria-expanded=true]").click()
    expect(stage(page)).to_have_count(0)
    expect(page.locator(".hl-sum-view")).to_have_count(0)


def test_the_small_stages_unfold_and_fold_again(open_page):
    page = open_page(LINK)
    lines = page.locator(".hl-way-view:not(.strip) .stop")
    expect(lines).to_have_count(12, timeout=WAIT)
    page.get_by_role("button", name=re.compile("small steps too")).click()
    expect(lines.filter(has_text="Turned keys")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Hide the small steps").click()
    expect(lines).to_have_count(12, timeout=WAIT)


def test_a_number_is_followed_back_to_the_ids_and_the_trail_leads_to_it_again(open_page):
    page = open_page(LINK)
    the_strip_opens_a_stage_and_a_press_on_its_line_closes_it(page)
    page.locator(".hl-way-view:not(.strip) .stop", has_text="Queries").first.click(timeout=WAIT)
    expect(stage(page)).to_have_text("2. Queries")
    page.locator("[data-part=matrix] .box").click(position={"x": 8, "y": 60})
    expect(page).to_have_url(re.compile(r"cell=\d+\.\d+\.0"))
    began = total(page).get_attribute("aria-label")
    for name in ("Norm", "Residual stream", "1. Embeddings", "Ids"):
        follow(page)
        expect(stage(page)).to_have_text(name)
    expect(page.locator(".hl-token-chips")).to_be_visible()
    expect(page).to_have_url(re.compile("stage=ids.*trail=queries"))
    trail = page.locator(".hl-sum-view .trail button")
    expect(trail).to_have_count(4)
    trail.first.click()
    expect(stage(page)).to_have_text("2. Queries")
    expect(total(page)).to_have_attribute("aria-label", began)


def test_a_sum_that_is_gone_back_to_comes_into_sight_though_another_board_shows_it(open_page):
    page = open_page(f"{LINK}&stage=embeddings", height=640)
    expect(total(page)).to_be_attached(timeout=WAIT)
    follow(page)
    expect(stage(page)).to_have_text("Ids")
    page.locator(".hl-sum-view .trail button").click()
    expect(stage(page)).to_have_text("1. Embeddings")
    expect(total(page)).to_be_in_viewport(ratio=1)


def test_a_neuron_that_is_pressed_says_what_it_does_and_stands_in_the_link(open_page):
    page = open_page(f"{LINK}&stage=feed-forward")
    page.get_by_role("button", name=re.compile("Show the neurons")).click(timeout=WAIT)
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


def drawn(text: str) -> str:
    """A piece as a chip or a box shows it."""
    return text.replace(" ", "·")


def test_a_word_is_chosen_and_its_merges_are_played_step_by_step_to_the_pieces_of_the_tokenizer(open_page):
    text = "The unhealthy fox was unbelievable"
    writer, translator = models.load_tokenizer("writer"), models.load_tokenizer("translator")
    word = pieces_of(writer, text).words[1]
    count, letters = len(word.steps.merges), len(word.steps.letters)
    page = open_page(f"/inside?text={text.replace(' ', '+')}&level=intermediate&stage=pieces")
    part = page.locator(".st-key-inside-pieces")
    words = part.get_by_role("listbox", name="The words", exact=True)
    expect(words.get_by_role("option", selected=True).locator(".text")).to_have_text("·unbelievable", timeout=WAIT)
    words.get_by_role("option").nth(1).click()
    expect(words.get_by_role("option", selected=True).locator(".text")).to_have_text("·unhealthy")
    expect(page).to_have_url(re.compile(r"word=1(&|$)"))
    sentence, boxes = part.locator(".hl-pieces-view .sentence"), part.locator(".hl-pieces-view .box:visible")
    step = part.get_by_role("slider", name="Step", exact=True)
    expect(step).to_have_attribute("max", str(count), timeout=WAIT)
    step.focus()
    page.keyboard.press("Home")
    expect(boxes).to_have_text([drawn(letter.text) for letter in word.steps.letters])
    expect(sentence).to_contain_text(f"begins as {letters} letters")
    for merge in word.steps.merges:
        part.get_by_role("button", name="One step on", exact=True).click()
        expect(sentence).to_contain_text(
            f"“{drawn(merge.left.text)}” + “{drawn(merge.right.text)}” → “{drawn(merge.result.text)}”"
        )
    expect(part.get_by_role("button", name="One step on", exact=True)).to_be_disabled()
    pieces = [
        drawn(token.text) for token in writer.tokens(text) if 3 <= token.start < token.end <= 13
    ]  # where " unhealthy" stands
    assert boxes.all_inner_texts()[-len(pieces) :] == pieces and len(pieces) > 1
    assert sentence.inner_text().endswith(f"becomes {len(pieces)} tokens.")
    for at, vocabulary in enumerate((writer, translator)):
        tokens = [drawn(token.text) for token in vocabulary.tokens(text) if not token.special]
        card = page.locator(".st-key-inside-tokenizers section").nth(at)
        expect(card.locator(".chip .text")).to_have_text(tokens, timeout=WAIT)
        expect(card).to_contain_text(f"{len(tokens)} tokens for {len(text)} characters")


def test_a_beginner_meets_one_small_picture_and_a_press_on_it_shows_the_sum_of_that_number(open_page):
    page = open_page("/inside?text=The+cat+sat&stage=queries")
    stage_part = page.locator(".st-key-inside-stage")
    strip = stage_part.locator("[data-part=strip] .box")
    expect(strip).to_be_visible(timeout=WAIT)
    expect(stage_part.locator(".box")).to_have_count(1)
    stage_part.get_by_role("button", name="Show every number").click()
    expect(total(page)).to_be_visible(timeout=WAIT)
    stage_part.get_by_role("button", name="Hide every number").click()
    expect(total(page)).to_have_count(0, timeout=WAIT)
    box = strip.bounding_box()
    strip.click(position={"x": box["width"] - 10, "y": box["height"] / 2})
    expect(page).to_have_url(re.compile(r"cell=\d+\.\d+\.3[01]"))
    expect(total(page)).to_be_visible(timeout=WAIT)
