"""Page "Flow": methods side by side, from layer to layer, as streams, and put to the test."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import models
from analysis import Attribution, Question, faithfulness, rollout
from models.language_model import LanguageModel
from models.trace import Trace
from tests.browser.pages.test_type import box, no_error
from viz import percent

TEXT = "Tom gave Anna a red ball. Anna thanked Tom and threw the red"
WAIT = 60_000


@pytest.fixture
def open_flow(open_page):
    def open_(**choices: str) -> Page:
        choices = {"text": TEXT, "level": "intermediate"} | choices
        opened = open_page("/flow?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in choices.items()))
        expect(opened.locator("[data-testid=stSidebar]")).to_contain_text("parameters", timeout=WAIT)
        return opened

    return open_


def part(page: Page, name: str):
    return page.locator(f"[data-part='{name}']")


def press(page: Page, name: str) -> None:
    page.get_by_role("radio", name=name).or_(page.get_by_role("button", name=name)).first.click()


def line(page: Page, chart: str = "deletion") -> list[float]:
    """What the curve in front shows."""
    return page.evaluate(
        """(chart) => {
          const plot = document.querySelector(`.st-key-${chart} .js-plotly-plot`);
          return plot.calcdata.at(-1).map((point) => point.y);
        }""",
        chart,
    )


def test_methods_stand_side_by_side_and_follow_the_token_that_is_pressed(open_flow):
    page, model = open_flow(), models.load("writer")
    shown = part(page, "rollout").locator("table tr")
    trace = model.trace(TEXT)
    expect(shown).to_have_count(len(trace.tokens), timeout=WAIT)
    assert page.locator("[data-part]").count() == 7  # the chips, and six methods
    row = rollout(trace.attention["self"])[-1]
    expect(shown.first).to_contain_text(f"{100 * row[-1, 0]:.3g}")
    attribution = Attribution(model, trace, len(trace.tokens) - 1, int(trace.logits_at(-1).argmax()))
    total, logit = sum(matrix.sum() for matrix in attribution.relevance), trace.logits_at(-1).max()
    slopes = f"Together they make {total:.3g}, and the logit is {logit:.3g}"
    expect(part(page, "attention × gradient")).to_contain_text(slopes)
    another_prediction_is_followed(page, model, trace)
    part(page, "chips").get_by_role("option").nth(6).click()
    expect(shown.first).to_contain_text(f"{100 * row[6, 0]:.3g}")
    expect(page.get_by_text(re.compile("could not be drawn"))).to_have_count(0)


def another_prediction_is_followed(page: Page, model: LanguageModel, trace: Trace) -> None:
    place = len(trace.tokens) - 1
    first, second = model.top(trace.logits_at(place), place, 2)
    ball = next(i for i, token in enumerate(trace.tokens) if token.text == " ball")
    cell = part(page, "gradient rollout").locator("table tr").nth(ball)

    def share(token: int) -> str:
        return f"{100 * Attribution(model, trace, place, token).scores('gradient rollout')[ball]:.3g}"

    expect(cell).to_contain_text(share(first.id), timeout=WAIT)
    page.get_by_role("combobox", name="Follow the prediction").click()
    page.get_by_role("option", name=percent(second.probability)).click()
    expect(cell).to_contain_text(share(second.id))


def test_layers_play_and_streams_arrive_at_the_token(open_flow):
    page = open_flow(show="Layer by layer")
    expect(page.locator(".player output")).to_have_text("after layer 0", timeout=WAIT)
    before = page.locator("tbody").inner_text()
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".player output")).to_have_text("after layer 1")
    assert page.locator("tbody").inner_text() != before
    expect(page.locator(".player output")).to_have_text("after layer 2")
    press(page, "Streams")
    expect(page.locator(".sankey-link").first).to_be_visible(timeout=WAIT)
    rows = page.get_by_text(re.compile(r"\d+ streams of at least 1"))
    expect(rows).to_be_visible()


def test_another_method_has_another_curve(open_flow):
    page, model = open_flow(show="Which to believe"), models.load("writer")
    trace = model.trace(TEXT)
    place = len(trace.tokens) - 1
    token = int(trace.logits_at(place).argmax())
    scores = {name: Attribution(model, trace, place, token).scores(name) for name in ("rollout", "gradient rollout")}
    attribution = faithfulness(Question(model, trace, place, token, keep_last=True), scores, orders=1)
    expect(page.locator(".st-key-pair-deletion .js-plotly-plot")).to_be_visible(timeout=WAIT)
    assert {*page.locator(".st-key-pair-deletion .legendtext").all_text_contents()} >= {"Gradient rollout", "Rollout"}
    page.get_by_text(re.compile(r"All \d methods, one at a time")).click()
    expect(page.locator(".st-key-deletion .js-plotly-plot")).to_be_visible(timeout=WAIT)
    for name in ("rollout", "gradient rollout"):
        press(page, re.compile(f"^{name}$", re.IGNORECASE))
        title = page.locator(".st-key-deletion .legendtext").first
        expect(title).to_have_text(name.capitalize())
        expect(page.locator(".st-key-insertion .legendtext").first).to_have_text(name.capitalize())
        np.testing.assert_allclose(line(page), 100 * attribution.methods[name].deletion, atol=0.05)
        np.testing.assert_allclose(line(page, "insertion"), 100 * attribution.methods[name].insertion, atol=0.05)
    expect(page.get_by_role("table").last).to_contain_text("random orders: median (lowest to highest)")


def test_one_token_and_no_head_are_sentences(open_flow, folders):
    page = open_flow(text=" ", model=str(folders["BERT without a head"]), show="Which to believe")
    expect(page.get_by_text("no language-model head").first).to_be_visible(timeout=WAIT)
    page.get_by_label("Your text", exact=True).fill("The cat sat")
    expect(page.get_by_text("no prediction whose probability could fall")).to_be_visible(timeout=WAIT)
    press(page, "Sources")
    expect(part(page, "attention × gradient")).to_contain_text("here is none", timeout=WAIT)
    expect(part(page, "rollout").locator("table tr").first).to_be_attached()
    page = open_flow(text="")
    page.get_by_label("Your text", exact=True).fill("")
    expect(page.get_by_text("There is only one token")).to_be_visible(timeout=WAIT)


VIEWS = {
    "Sources": ".hl-reading-view",
    "Layer by layer": ".hl-compare-view",
    "Streams": ".st-key-streams .js-plotly-plot",
    "Which to believe": ".st-key-deletion .js-plotly-plot",
}


def test_every_view_draws_an_encoder_decoder(open_flow, folders):
    page = open_flow(model=str(folders["T5"]), text="The cat sat on the mat.", target="the dog", level="expert")
    for view, picture in VIEWS.items():
        press(page, view)
        expect(page.locator(picture).first).to_be_visible(timeout=WAIT)
        assert page.get_by_text(re.compile("could not be (drawn|read)")).count() == 0


WRITTEN_BY_A_RUN = """box => Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(box, "The cat sat")"""


def test_what_is_typed_stays_where_a_run_writes_the_text_before_it(open_page):
    """As on a fresh server, whose first run begins again when it knows the cache of the Hub."""
    page = open_page("/flow?level=intermediate&text=The+cat+sat")
    expect(page.get_by_role("button", name="Take it away")).to_be_visible(timeout=WAIT)
    box(page).press("End")
    page.keyboard.type(" on")
    box(page).evaluate(WRITTEN_BY_A_RUN)
    expect(box(page)).to_have_value("The cat sat on")
    box(page).evaluate(WRITTEN_BY_A_RUN)
    page.keyboard.type(" a")
    expect(box(page)).to_have_value("The cat sat on a")
    expect(page.locator("[data-part=chips]").get_by_role("option").last).to_have_text(re.compile("a$"))
    page.get_by_test_id("stMain").get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem").last.click()
    expect(box(page)).not_to_have_value(re.compile("^The cat sat"))
    no_error(page)


def test_beginners_press_the_coloured_text_and_guess_again_without_a_word(open_flow):
    page, model = open_flow(level="beginner"), models.load("writer")
    tokens = part(page, "gradient rollout").locator(".token")
    trace = model.trace(TEXT)
    expect(tokens).to_have_count(len(trace.tokens), timeout=WAIT)
    expect(part(page, "chips")).to_have_count(0)
    tokens.nth(6).click()
    expect(page).to_have_url(re.compile("token=6"), timeout=WAIT)
    guess = model.top(trace.scores_at(6), 6, 1)[0].text.strip()
    expect(page.get_by_text(f"After the token with the frame, the model’s best guess is “{guess}”")).to_be_visible()
    page.get_by_role("button", name="Guess again without").click()
    expect(page.get_by_text(re.compile("Without “.*”, the chance of .* before, it was"))).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("button", name="Guess again without")).to_have_count(0)
    no_error(page)
