"""Experiment "Two texts" in a browser: a pair is taken, a square is pressed, the answer comes back, a link shows it again."""

from __future__ import annotations

import re

import numpy as np
from playwright.sync_api import Page, expect

import models
from analysis.patches import Patches
from pages.change.texts import pairs
from tests.browser.pages.test_layers import part
from viz import percent

WAIT = 60_000


def test_a_patch_brings_the_answer_back_and_its_link_shows_it_again(open_page):
    model = models.load("writer")
    ready = pairs.known(model.info)[2]
    made = Patches(model, *model.traces([ready.clean, ready.corrupt]))
    token, _ = made.answers()
    at = next(at for at, its in made.places.items() if made.tokens(made.base)[at].id != made.tokens(made.source)[its].id)
    before, after = np.exp(made.logs["corrupt"][token]), np.exp(made.read([made.edits("stream")[0, at]])[0, token])
    page: Page = open_page("/change?level=intermediate&experiment=Two+texts")
    expect(part(page, "map").get_by_role("grid")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Pairs").click()
    page.get_by_text(ready.corrupt).click()
    expect(page.get_by_role("textbox", name="The second text")).to_have_value(ready.corrupt)
    bars = part(page, "base")
    expect(bars).to_contain_text("Press a square")
    expect(bars).to_contain_text(model.token_text(token).strip())
    grid = part(page, "map").get_by_role("grid")
    grid.focus()
    grid.press("ArrowRight")
    for _ in range(at - 1):
        grid.press("ArrowRight")
    grid.press("Enter")
    expect(bars).to_contain_text(f"from {percent(float(before))} to {percent(float(after))}", timeout=WAIT)
    expect(page).to_have_url(re.compile(rf"texts-cell=0\.{at}"))
    again = open_page(re.sub(r"^https?://[^/]+", "", page.url).replace("level=intermediate", "level=expert"))
    expect(part(again, "base")).to_contain_text(f"{percent(float(before))} → {percent(float(after))}", timeout=WAIT)
    expect(again.get_by_role("textbox", name="The second text")).to_have_value(ready.corrupt)
