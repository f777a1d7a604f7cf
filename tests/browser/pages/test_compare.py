"""The switch "Compare with" on page "Attention", in a real browser."""

from __future__ import annotations

import re

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import models
from analysis import scope
from analysis.comparison import Common, compare
from tests.browser.pages.test_type import box, no_error
from tests.browser.test_accessible import violations
from viz import percent

TEXT = "The dog ran because it was tired and went home."
OTHER = "The dog ran because it was hot and went home."
WAIT = 60_000
DRAWN = """name => { const plot = document.querySelector(".js-plotly-plot");
  return Array.from(plot.calcdata[name][0].z, (row) => Array.from(row, (x) => x ?? NaN)); }"""


@pytest.fixture
def open_comparison(open_page):
    """`open_comparison("text", **{"other-text": …})`: the heatmap with that comparison, by its link."""

    def open_(way: str, **more: str) -> Page:
        choices = {"level": "intermediate", "view": "Heatmap", "compare": way, "layer": "L2", "head": "H3"}
        choices |= {"text": TEXT} | more
        return open_page("/attention?" + "&".join(f"{key}={value}" for key, value in choices.items()))

    return open_


def seen(text: str, name: str = "writer"):
    return scope(models.load(name).trace(text).attention["self"])


def drawn_is(page: Page, both: Common) -> None:
    """The picture has the weights of the two and their difference, and the words beside it how far they are apart."""
    page.wait_for_function(
        """([rows, columns]) => { const all = document.querySelector(".js-plotly-plot")?.calcdata;
          return all?.length === 3 && all[0][0].z.length === rows && all[0][0].z[0].length === columns; }""",
        arg=list(both.difference.shape),
        timeout=WAIT,
    )
    expect(page.get_by_text(percent(both.moved)).first).to_be_visible()
    for trace, weights in enumerate((both.difference, both.a.weights, both.b.weights)):
        drawn = np.nan_to_num(np.array(page.evaluate(DRAWN, trace), dtype=float)) / 100
        np.testing.assert_allclose(drawn, weights, rtol=0, atol=3e-6)  # the picture rounds to 0.0001 %


def test_two_texts_from_a_link_and_as_one_types(open_comparison):
    page = open_comparison("text", **{"other-text": OTHER})
    drawn_is(page, compare(seen(TEXT), seen(OTHER), [(2, 3), (2, 3)], same_text=False))
    assert not (grave := violations(page)), "\n".join(grave)
    assert "·tired / hot" in page.evaluate("document.querySelector('.js-plotly-plot').layout.xaxis.ticktext")
    other = page.get_by_label("The other text")
    other.fill(TEXT)
    expect(page.get_by_text("Every difference is exactly 0")).to_be_visible()
    other.fill("The cat slept. " + TEXT)
    longer = compare(seen(TEXT), seen("The cat slept. " + TEXT), [(2, 3), (2, 3)], same_text=False)
    drawn_is(page, longer)
    expect(page.get_by_text(re.compile("Only in the other.*" + re.escape(percent(longer.b.share))))).to_be_visible()
    other.fill("")
    expect(page.get_by_text("Type a second text")).to_be_visible()
    other.fill("</script><img src=x onerror=\"document.title='caught'\"> *b* $x$ 🌳")
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    assert page.title() != "caught" and page.locator("img[src=x]").count() == 0
    no_error(page)


def test_a_comparison_starts_from_a_copy_of_the_text_and_beginners_have_none(open_page):
    page = open_page(f"/attention?view=Heatmap&text={TEXT}")
    expect(page.get_by_text("How to read a row")).to_be_visible(timeout=WAIT)
    expect(page.get_by_text("Compare with")).to_have_count(0)
    page = open_page(f"/attention?view=Heatmap&level=intermediate&text={TEXT}")
    expect(page.get_by_text("In words")).to_be_visible(timeout=WAIT)
    page.get_by_role("radio", name="text", exact=True).or_(page.get_by_role("button", name="text", exact=True)).first.click()
    expect(page.get_by_label("The other text")).to_have_value(TEXT)
    expect(page.get_by_text("Every difference is exactly 0")).to_be_visible()
    page.get_by_label("The other text").fill(OTHER)
    expect(page.get_by_text("The largest differences").first).to_be_visible()
    expect(page).to_have_url(re.compile("compare=text.*other-text=The"))


def test_two_heads_and_two_layers(open_comparison):
    page = open_comparison("head", **{"other-layer": "L4", "other-head": "H1"})
    drawn_is(page, compare(seen(TEXT), seen(TEXT), [(2, 3), (4, 1)]))
    page.get_by_role("radio", name="layer", exact=True).or_(page.get_by_role("button", name="layer", exact=True)).first.click()
    drawn_is(page, compare(seen(TEXT), seen(TEXT), [(2, None), (4, None)]))


def test_two_models_while_one_types(open_comparison, folders):
    """It takes a quarter of a minute: the server imports transformers, and opens a second model."""
    bert = str(folders["BERT"])
    page = open_comparison("model", **{"other-model": bert, "other-layer": "L1", "other-head": "H2"})
    expect(box(page)).to_have_value(TEXT, timeout=WAIT)
    box(page).fill(TEXT + " The sun shone")  # the other model may still be loading
    drawn_is(page, compare(seen(TEXT + " The sun shone"), seen(TEXT + " The sun shone", bert), [(2, 3), (1, 2)]))
    expect(page.get_by_text("there is nothing to compare with").filter(has_text="</s>")).to_be_visible()
    no_error(page)


def test_what_cannot_be_compared_is_a_sentence(open_comparison, folders, tmp_path):
    target = {"attention": "Cross", "target": "the dog"}
    page = open_comparison("model", **{"model": str(folders["T5"]), "other-model": "writer"}, **target)
    expect(page.get_by_text("has no cross attention")).to_be_visible(timeout=WAIT)
    other = page.get_by_role("combobox", name="The other model")
    other.fill(str(tmp_path / "nothing"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("could not be opened")).to_be_visible(timeout=WAIT)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("could not be opened")).to_be_visible(timeout=WAIT)
    page.get_by_role("radio", name="nothing").or_(page.get_by_role("button", name="nothing", exact=True)).first.click()
    expect(page.get_by_text("could not be opened")).to_have_count(0)
    expect(page.locator(".js-plotly-plot")).to_be_visible()
