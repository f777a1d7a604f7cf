"""Pointing at a word of the answer shows what the model looked at to choose that word, in the app with the translator."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

import models
from tests.browser.conftest import link
from tests.browser.places import in_menu
from ui.memory.favourites import favourite

WAIT = 60_000
SOURCE, TARGET = "The dog sees a bird.", "Le chien voit un oiseau."


@pytest.fixture(scope="module")
def looked() -> dict[str, str]:
    """For each word of the answer, the word that the head which the app opens with looks at most in the row that chose it."""
    model = models.load("translator")
    best, trace = favourite(model, "cross"), model.trace(SOURCE, TARGET)
    weights = trace.attention["cross"][best.layer][best.head]
    chosen = [token.text.strip() for token in trace.target[1:]]
    return {word: trace.tokens[int(row.argmax())].text.strip() for word, row in zip(chosen, weights, strict=False)}


def shades(page: Page) -> list[tuple[str, float]]:
    """How strongly each word of the paragraph is shaded, in per cent."""
    return page.locator("[data-part=reading] .word, .hl-reading-view .word").evaluate_all(
        "all => all.map((one) => [one.textContent, parseFloat(one.style.getPropertyValue('--shade')) || 0])"
    )


def test_pointing_at_a_word_of_the_answer_lights_what_it_was_chosen_for(open_page, looked):
    page = open_page(link("", model="translator", text=SOURCE, target=TARGET, level="beginner"))
    reading = page.locator("[data-part=reading]")
    for after, words in (("Le", "chien"), ("chien", "voit"), ("voit", "un")):
        word = reading.get_by_role("button", name=words, exact=True)
        expect(word).to_be_visible(timeout=WAIT)
        word.hover()
        expect(reading.locator(".sentence")).to_contain_text(
            f"After “{after}”, choosing “{words}”, it looks most at “{looked[words]}”"
        )
        assert max(shades(page), key=lambda shade: shade[1])[0] == looked[words]
    reading.get_by_role("button", name="dog", exact=True).hover()
    expect(reading.locator(".sentence")).to_contain_text(re.compile("“dog” is looked at most after “.*”, choosing “.*”"))


def test_a_press_on_a_word_keeps_the_row_that_chose_it_on_every_page(open_page, looked):
    page = open_page(link("", model="translator", text=SOURCE, target=TARGET, level="intermediate"))
    chip = page.locator("[data-part=target]").get_by_role("option").filter(has_text=re.compile("^·?chien"))
    expect(chip).to_be_visible(timeout=WAIT)
    chip.click()
    expect(chip).to_have_attribute("aria-selected", "true")
    words = "After “Le”, choosing “chien”, it looks most at"
    expect(page.locator("[data-part=reading] .sentence")).to_contain_text(f"{words} “{looked['chien']}”")
    in_menu(page, "Attention").click()
    expect(page.locator(".hl-head-view .sentence")).to_contain_text(words, timeout=WAIT)
    expect(page.locator(".hl-head-view .axis.from")).to_have_text("from (query), choosing")
    page.locator(".hl-head-view .side.to").focus()
    page.keyboard.press("Home")
    expect(page.locator(".hl-head-view .sentence")).to_contain_text(re.compile("“The” .*is looked at most after .*, choosing"))


def test_the_words_of_a_row_stand_in_the_numbers_of_a_query(open_page):
    page = open_page(link("attention", model="translator", text=SOURCE, target=TARGET, level="intermediate", view="Query-key"))
    expect(page.locator(".hl-query-key-view .title")).to_contain_text("choosing what comes next", timeout=WAIT)
    expect(page.get_by_role("combobox", name="Query")).to_have_value(re.compile("after “.”, choosing what comes next"))
