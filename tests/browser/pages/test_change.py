"""Page "Change" in a real browser: a head off and back, a line cut and mended, a step back, and numbers that the model gives."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
from playwright.sync_api import Page, expect

import models
from analysis import direction
from models.edits import Head, Stream
from models.numbers.softmax import softmax
from pages.change.steer.ready import READY
from tests.browser.pages.test_layers import part, table
from tests.browser.places import box_at_rest
from viz import percent

TEXT = "The cat sat on the mat"
WAIT = 60_000


def opened(open_page, **choices: str) -> Page:
    page = open_page("/change?" + "&".join(f"{k}={quote(v, safe='')}" for k, v in ({"text": TEXT} | choices).items()))
    expect(part(page, "bars").get_by_role("button").first).to_be_visible(timeout=WAIT)
    expect(part(page, "after").get_by_role("slider", name="from (query)")).to_be_visible(timeout=WAIT)
    return page


def shares(*edits) -> list[str]:
    """The probability of the token that is likeliest without edits."""
    model = models.load("writer")
    first = int(model.trace(TEXT).logits_at(-1).argmax())
    logits = model.trace(TEXT, edits=edits).logits_at(-1).astype(float)
    return percent(float(np.exp(logits[first] - logits.max()) / np.exp(logits - logits.max()).sum()))


def test_a_head_goes_off_and_comes_back_and_the_numbers_are_those_of_the_model(open_page):
    page = opened(open_page, level="expert", layer="L2", head="H3")
    grid, as_it_was = part(page, "parts").get_by_role("grid"), page.get_by_role("button", name="As it was")
    expect(as_it_was).to_be_disabled()
    expect(part(page, "bars")).to_contain_text(shares())
    grid.press("Enter")  # of the head that is chosen
    expect(page.get_by_role("button", name="L2 H3: off")).to_be_visible()
    expect(part(page, "bars")).to_contain_text(f"{shares()} → {shares(Head(2, 3))}")
    expect(part(page, "before")).to_have_count(0)  # its map is the same as before
    assert table(page, "parts")[2][3] == "off 0 times its strength"
    expect(page).to_have_url(re.compile(r"changes=h2\.3"))
    grid.press("Enter")
    expect(page.get_by_role("button", name="L2 H3: mean")).to_be_visible()
    grid.press("Enter")
    expect(as_it_was).to_be_disabled()
    expect(part(page, "before")).to_have_count(0)
    expect(part(page, "bars")).to_contain_text(shares())


def test_a_line_is_pulled_out_put_back_and_a_step_is_undone(open_page):
    page = opened(open_page, level="intermediate", layer="L5", head="H1")
    view = part(page, "after")
    query, key = (view.get_by_role("slider", name=name) for name in ("from (query)", "to (key)"))
    query.press("End")  # the last token, which is kept chosen; then one on the other side
    query.press("Enter")
    key.press("Home")
    key.press("Enter")
    cut = page.get_by_role("button", name=re.compile("L5 H1: .*cut"))
    expect(cut).to_have_count(1)
    expect(page).to_have_url(re.compile(r"changes=c5\.1\.6\.0"))
    stage = box_at_rest(view.locator(".stage"))
    tops = [view.locator(f".side.{side} > *").nth(at).bounding_box() for side, at in (("from", 6), ("to", 0))]
    y = sum(top["y"] + top["height"] / 2 for top in tops) / 2
    page.mouse.move(stage["x"] + stage["width"] / 2 - 20, y + 40)
    page.mouse.click(stage["x"] + stage["width"] / 2 - 20, y)  # where the bars end the lines, their middle is further left
    expect(cut).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(cut).to_have_count(1)
    cut.click()
    expect(cut).to_have_count(0)


def test_every_line_is_tried_and_a_press_on_a_square_cuts_it(open_page):
    page = opened(open_page, level="expert", layer="L5", head="H1", **{"try-lines": "true"})
    grid = part(page, "edges").get_by_role("grid")
    expect(grid).to_be_visible(timeout=WAIT)
    grid.press("ArrowDown")
    grid.press("Enter")
    expect(page).to_have_url(re.compile(r"changes=c5\.1\.1\.0"))
    expect(page.get_by_role("button", name=re.compile("L5 H1: .*cut"))).to_have_count(1)


def test_what_takes_long_is_cancelled_and_the_page_goes_on(open_page):
    """Every line of a long text: a thousand and more readings, on any machine more than a person waits for."""
    page = open_page(f"/change?level=expert&layer=L2&head=H3&try-lines=true&text={quote('the old dog and the cat ' * 9)}")
    cancel = page.get_by_role("button", name="Cancel", exact=True)
    expect(cancel).to_be_visible(timeout=WAIT)
    cancel.click()
    expect(page.get_by_text("Cancelled.", exact=True)).to_be_visible(timeout=WAIT)
    expect(cancel).to_have_count(0)
    part(page, "parts").get_by_role("grid").press("Enter")
    expect(page.get_by_role("button", name="L2 H3: off")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("button", name="Start again")).to_be_visible(), "and it was not begun again by that"


def test_the_model_is_steered_by_a_slider(open_page):
    page = open_page("/change?level=intermediate&experiment=Steer&steer=sea,+not+land&text=They+went+to+the")
    slider = page.get_by_role("slider", name="Strength")
    expect(slider).to_have_count(1, timeout=WAIT)
    expect(page.get_by_text("Writing without and with the direction")).to_have_count(0, timeout=WAIT)
    expect(slider).to_have_value("2", timeout=WAIT)
    expect(part(page, "texts")).to_contain_text("with a random push of that length", timeout=WAIT)
    model, ready = models.load("writer"), READY["sea, not land"]
    slider.press("ArrowRight")
    expect(page).to_have_url(re.compile(r"steer-strength=2\.5"))
    added = Stream(ready.layer, None, add=2.5 * direction(model, ready.pairs, ready.layer))
    logits = model.trace("They went to the", edits=[added]).logits_at(-1)
    share = percent(float(softmax(logits).max()))
    expect(part(page, "bars")).to_contain_text(share)


def test_on_a_phone_the_answer_to_a_press_comes_into_sight(open_page):
    page = open_page("/change", width=390, height=844)
    expect(part(page, "bars").get_by_role("button").first).to_be_visible(timeout=WAIT)
    grid = part(page, "parts").get_by_role("grid")
    grid.press("ArrowDown")
    expect(part(page, "bars")).not_to_be_in_viewport(ratio=1)
    grid.press("Enter")
    expect(part(page, "bars")).to_be_in_viewport(ratio=0.99)
