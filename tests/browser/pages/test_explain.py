"""Page "Explain": a method is chosen, the words are coloured, and their numbers are those of the analysis."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
from playwright.sync_api import expect

import models
from analysis import attributions
from tests.browser.pages.test_layers import part
from tests.browser.places import in_menu
from viz import percent

TEXT = "The farmer gave the hungry dog a bone, and the dog ran into the"
WAIT = 60_000


def test_a_method_is_chosen_and_the_words_are_coloured_by_it(open_page):
    page = open_page(f"/explain?level=intermediate&text={quote(TEXT)}")
    words = page.locator(".st-key-explain-text .word")
    made = models.load("writer")
    expect(words).to_have_count(len(made.tokenize(TEXT)), timeout=WAIT)
    method = page.get_by_role("combobox", name="Method")
    expect(method).to_be_visible()
    for name, asked in (("Leave-one-out", "leave-one-out"), ("Integrated gradients", "integrated gradients")):
        scores = attributions(made, TEXT, asked, keep_last=True)
        if name != "Leave-one-out":
            method.click()
            page.get_by_role("option", name=name, exact=True).click()
            expect(page).to_have_url(re.compile("explain-by=Integrated"))
        best = int(np.nanargmax(scores))
        rows = page.locator(".st-key-explain-text table tr")
        expect(rows.nth(best)).to_contain_text(f"{scores[best]:.3g}", timeout=WAIT)
        for row, score in zip(rows.all_inner_texts(), scores, strict=True):
            shown = "–" if np.isnan(score) else f"{float(f'{score:.3g}'):g}".replace("-", "−")
            assert shown in row
        shade = "(word) => parseFloat(getComputedStyle(word).getPropertyValue('--shade')) || 0"
        shades = [words.nth(i).evaluate(shade) for i in range(len(scores))]
        assert shades[int(np.nanargmax(np.abs(scores)))] == max(shades) == 80  # two words may have it after rounding


def test_a_classifier_says_its_labels_and_why_one_rather_than_the_other(open_page):
    text, made = "Did the dog see the cat", models.load("sorter")
    best, other = made.predict(text)
    page = open_page(f"/?level=intermediate&model=sorter&text={quote(text)}")
    bars = part(page, "bars")
    for outcome in (best, other):
        expect(bars).to_contain_text(outcome.text, timeout=WAIT)
        expect(bars).to_contain_text(percent(outcome.probability))
    in_menu(page, "Explain").click()
    against = page.get_by_role("combobox", name="Rather than")
    expect(against).to_be_visible(timeout=WAIT)
    against.click()
    page.get_by_role("option", name=re.compile(f"^{other.text} ")).click()
    expect(page).to_have_url(re.compile(f"explain-against={other.text}"), timeout=WAIT)
    scores = attributions(made, text, "leave-one-out", token=best.id, against=other.id)
    first = int(np.nanargmax(scores))
    row = page.locator(".st-key-explain-text table tr").nth(first)
    expect(row).to_contain_text(f"{float(f'{scores[first]:.3g}'):g}", timeout=WAIT)
