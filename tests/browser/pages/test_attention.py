"""Page "Attention" in a real browser, with the network cut."""

from __future__ import annotations

import numpy as np
from playwright.sync_api import Page, expect

import models
from analysis import head_summary
from tests.browser.pages.test_type import box, no_error

DRAWN = "Array.from(document.querySelector('.js-plotly-plot').calcdata[0][0].z, row => Array.from(row, x => x ?? NaN))"


def ready(page: Page) -> Page:
    expect(page.get_by_text("In words")).to_be_visible(timeout=60_000)
    expect(page.locator(".st-key-heatmap .js-plotly-plot")).to_be_visible()
    page.wait_for_function("document.querySelector('.js-plotly-plot')?.calcdata?.length > 0")
    return page


def test_the_heatmap_holds_the_models_own_weights(open_page):
    page = ready(open_page("/attention?view=Heatmap&level=intermediate&layer=L2&head=H3&text=The+cat+sat+on+the+mat"))
    expect(box(page)).to_have_value("The cat sat on the mat")
    drawn = np.array(page.evaluate(DRAWN), dtype=float)
    weights = models.load("writer").trace("The cat sat on the mat").attention["self"][2][3]
    assert np.isnan(drawn[np.triu_indices(len(drawn), 1)]).all(), "the future is masked, and drawn as nothing"
    np.testing.assert_allclose(np.nan_to_num(drawn) / 100, weights, atol=1e-6)
    axes = page.evaluate("(l => [l.xaxis.title.text, l.yaxis.title.text])(document.querySelector('.js-plotly-plot').layout)")
    assert axes == ["to (key)", "from (query)"]
    facts = head_summary(weights)
    expect(page.get_by_text(f"{facts.entropy:.2f} nats").first).to_be_visible()


def test_a_beginner_learns_to_read_a_row_with_its_own_numbers_and_typing_changes_them(open_page):
    page = ready(open_page("/attention?view=Heatmap&text=The+cat"))
    words = page.get_by_text("How to read a row").locator("xpath=..")
    expect(words).to_contain_text("find “cat” on the left")
    box(page).click()
    page.keyboard.press("End")
    page.keyboard.type(" sat", delay=60)
    page.wait_for_function("document.querySelector('.js-plotly-plot')?.calcdata?.[0]?.[0]?.z?.length === 4")
    expect(words).to_contain_text("find “sat” on the left")
    no_error(page)


def test_a_beginner_sees_the_lines_of_the_last_token_first_and_may_see_all(open_page):
    page = open_page("/attention?text=The+cat+sat")
    sentence = page.locator(".hl-head-view .sentence")
    expect(sentence).to_contain_text("“sat” looks most at", timeout=60_000)
    expect(page.locator(".hl-head-view .axis")).to_have_text(["from: looks", "to: is looked at"])
    stage = page.locator(".hl-head-view .stage").bounding_box()
    assert stage
    page.mouse.click(stage["x"] + 20, stage["y"] + stage["height"] - 12)
    page.mouse.move(5, 5)
    expect(sentence).to_contain_text("lines, of 2")


def test_the_score_is_explained_above_its_numbers(open_page):
    page = open_page("/attention?view=Query-key&level=intermediate&text=The+cat+sat")
    line, numbers = page.get_by_text("how well a key fits the query"), page.locator(".hl-query-key-view").first
    expect(line).to_be_visible(timeout=60_000)
    above, below = line.bounding_box(), numbers.bounding_box()
    assert above and below and above["y"] + above["height"] <= below["y"]
    assert "divided by √32" in line.inner_text()


def test_bertviz_draws_offline_and_hostile_text_stays_text(open_page):
    page = open_page("/attention?level=expert&view=BertViz&text=%3C%2Fscript%3E%3Cimg+src%3Dx+onerror%3Dalert(1)%3E+hi")
    frame = page.frame_locator("iframe").first
    expect(frame.locator("svg").first).to_be_visible(timeout=60_000)
    expect(frame.get_by_text("script", exact=False).first).to_be_visible()
    assert frame.locator("img[src='x']").count() == 0
    no_error(page)


def test_a_long_text_draws_and_says_which_layers_bertviz_has(open_page):
    page = open_page("/attention?level=expert&view=BertViz&text=" + "the+cat+sat+on+a+mat+and+" * 20)
    expect(page.frame_locator("iframe").first.locator("svg").first).to_be_visible(timeout=60_000)
    no_error(page)


def test_a_token_chosen_in_one_view_is_chosen_in_the_others(open_page):
    page = open_page("/attention?view=Reading&level=expert&layer=L2&head=H1&text=The+cat+sat+on+the+mat")
    page.locator(".st-key-reading-view .token").filter(has_text="sat").click(timeout=60_000)
    page.get_by_role("radio", name="Query-key").or_(page.get_by_role("button", name="Query-key")).first.click()
    query = page.get_by_role("combobox", name="Query")
    expect(query).to_have_value("3 ·sat")
    expect(page.get_by_text("q turned by 3 steps")).to_be_visible()  # the writer turns queries and keys by position
    query.click()
    page.get_by_role("option", name="5 ·the").click()
    expect(page.get_by_text("q turned by 5 steps")).to_be_visible()
    page.get_by_role("radio", name="Reading").or_(page.get_by_role("button", name="Reading")).first.click()
    expect(page.locator(".st-key-reading-view .token[aria-pressed=true]")).to_have_text(" the")
    no_error(page)
