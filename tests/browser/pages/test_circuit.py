"""Page "Change" in a real browser: a contrast is typed, a head opened, and a circuit found and opened under "Switch off"."""

from __future__ import annotations

import re

from playwright.sync_api import expect

import models
from analysis import logit_attribution
from pages.change.wrote.recipes import written
from tests.browser.pages.test_layers import part

TEXT = "The girl took her bag and said that"
WAIT = 60_000


def test_a_contrast_is_typed_and_a_circuit_is_found_and_opened(open_page):
    """To find a circuit, a text is read some hundred times, which takes a quarter of a minute beside other tests."""
    model = models.load("writer")
    trace = model.trace(TEXT)
    she, he = int(trace.logits_at(-1).argmax()), model.tokenize(" he")[-1].id
    alone, both = (float(logit_attribution(model, trace, she, against=rival)["contribution"].sum()) for rival in (None, he))
    page = open_page(f"/change?text={TEXT.replace(' ', '+')}&level=intermediate&experiment=What+wrote+it")
    expect(part(page, "list")).to_contain_text(written(alone), timeout=WAIT)
    against = page.get_by_role("combobox", name=re.compile("Rather than"))
    against.fill("he")
    against.press("Enter")
    expect(part(page, "list")).to_contain_text(written(both), timeout=WAIT)
    expect(page).to_have_url(re.compile("change-against=he"))
    grid = part(page, "board").get_by_role("grid")
    grid.press("ArrowLeft")
    grid.press("Enter")
    expect(page).to_have_url(re.compile(r"wrote-cell=L\d"))
    page.get_by_role("radio", name="Circuit", exact=True).click()
    expect(page.get_by_text(re.compile(r"of 54 parts"))).to_be_visible(timeout=WAIT)
    page.get_by_text(re.compile("^In numbers:")).click()
    expect(page.get_by_role("table").filter(has_text="Only the circuit")).to_be_visible()
    page.get_by_role("button", name="Open it under “Switch off”").click()
    expect(part(page, "changes").get_by_role("button", name="As it was")).to_be_enabled(timeout=WAIT)
    expect(page).to_have_url(re.compile(r"changes=[hmf]"))
