"""Page "Layers" in a real browser: a pair followed through the heads, the movie of layers, numbers of heads, the lens."""

from __future__ import annotations

import re
from urllib.parse import quote

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import models
from analysis import head_statistics, logit_lens, pair, tuned_lens
from tests.browser.pages.test_type import box, no_error
from tests.models.networks import network, tokenizer
from viz import percent
from viz.palette import LIGHT
from viz.tokens import label
from viz.views.grid_view import grid_view

TEXT = "The cat sat on the mat"
WAIT = 60_000
NASTY = "<img src=x onerror=\"document.title='caught'\">"


def part(page: Page, name: str):
    return page.locator(f"[data-part='{name}']")


def table(page: Page, name: str = "") -> list[list[str]]:
    """The cells behind a grid, as its table has them."""
    where = part(page, name) if name else page
    where.locator("details:not(.more)").first.wait_for(state="attached")
    if where.locator("details:not([open], .more)").count():
        where.get_by_text("As a table").click()
    where.locator("table td").nth(1).wait_for()
    return where.locator("table").evaluate(
        "t => [...t.rows].slice(1).map(row => [...row.cells].slice(1).map(c => c.textContent))"
    )


def opened(open_page, **choices: str) -> Page:
    page = open_page("/layers?" + "&".join(f"{k}={quote(v, safe='')}" for k, v in ({"text": TEXT} | choices).items()))
    expect(page.locator(".hl-board, .js-plotly-plot, [data-testid=stCaptionContainer]").first).to_be_visible(timeout=WAIT)
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text(re.compile("parameters|numbers"), timeout=WAIT)
    return page


def weights(query: int, key: int) -> list[list[str]]:
    pair_weights = pair(models.load("writer").trace(TEXT).attention["self"], query, key).weights
    return [[percent(weight) for weight in row] for row in pair_weights]


def test_a_pair_picked_in_the_text_is_found_in_every_head(open_page):
    page = opened(open_page, level="intermediate")
    part(page, "to").get_by_role("button", name="cat").click()
    expect(page.get_by_text("From “mat” to “cat”")).to_be_visible()
    assert table(page, "weights") == weights(6, 2)
    page.get_by_text("The same as ranks").click()
    ranks = pair(models.load("writer").trace(TEXT).attention["self"], 6, 2).ranks
    assert table(page, "ranks") == [[str(rank) for rank in row] for row in ranks]
    part(page, "from").get_by_role("button", name="sat").click()
    expect(page.get_by_text("From “sat” to “cat”")).to_be_visible()
    assert table(page, "weights") == weights(3, 2)
    part(page, "to").get_by_role("button", name="mat").click()
    expect(page.get_by_text("it is masked out")).to_be_visible()
    expect(part(page, "weights")).to_have_count(0)


def test_the_movie_plays_pauses_and_is_pressed(open_page):
    page = opened(open_page, level="intermediate")
    movie = part(page, "movie")
    expect(movie.locator("output")).to_have_text("Layer 0")
    movie.get_by_role("button", name="Play").click()
    expect(movie.locator("output")).to_have_text("Layer 2", timeout=5_000)
    movie.get_by_role("button", name="Pause").click()
    here = movie.locator("output").inner_text()
    page.wait_for_timeout(1_200)
    expect(movie.locator("output")).to_have_text(here)
    movie.get_by_role("slider").press("End")
    expect(movie.locator("output")).to_have_text("Layer 5")
    mean = models.load("writer").trace(TEXT).attention["self"][5].mean(0)
    shown = table(page, "movie")
    assert shown[4][:5] == [percent(weight) for weight in mean[4][:5]] and shown[4][5] == "–"
    movie.get_by_role("grid").focus()
    for key in ("Home", "ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("From “the” to “The”")).to_be_visible()
    expect(movie.locator("output")).to_have_text("Layer 5")  # a choice keeps the layer on screen
    box(page).click()
    page.keyboard.press("End")
    page.keyboard.type(" and")
    expect(movie.locator("tr")).to_have_count(9)
    no_error(page)


def test_numbers_of_heads_are_those_of_the_analysis_and_a_press_opens_the_head(open_page):
    page = opened(open_page, level="expert", part="Statistics")
    table_of_heads = head_statistics(models.load("writer").trace(TEXT).attention["self"])
    for name in ("evenness", "first", "previous", "itself"):
        assert table(page, name) == [[percent(value) for value in row] for row in table_of_heads[name].to_numpy().reshape(6, 8)]
    shown = np.array([[float(value.split()[0]) for value in row] for row in table(page, "entropy")])
    np.testing.assert_allclose(shown, table_of_heads["entropy"].to_numpy().reshape(6, 8), rtol=0.006)
    expect(page.locator(".js-plotly-plot")).to_be_visible()
    part(page, "first").get_by_role("grid").focus()
    for key in ("ArrowDown", "ArrowRight", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("In words")).to_be_visible(timeout=WAIT)
    expect(page.get_by_role("combobox", name="Layer")).to_have_value("L1")
    expect(page.get_by_role("combobox", name="Head")).to_have_value("H2")
    expect(page.locator(".hl-head-view")).to_be_visible()
    expect(box(page)).to_have_value(TEXT)
    no_error(page)


def test_a_beginner_reads_about_the_head_that_is_pressed(open_page):
    page = opened(open_page, part="Statistics")
    part(page, "previous").get_by_role("grid").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("of its attention to the token before")).to_be_visible()


def test_a_beginner_reads_about_the_square_that_is_pressed(open_page):
    page = opened(open_page)
    trace = models.load("writer").trace(TEXT)
    best = logit_lens(models.load("writer"), trace, top=1).sort_values(["layer", "position"])["text"].to_numpy()
    places = len(trace.tokens)
    words = [cell.split(" ")[0] for row in table(page, "lens") for cell in row]
    assert len(words) == len(best) - places, "without the row of the input"
    part(page, "lens").get_by_role("grid").focus()
    for key in ("Home", *["ArrowUp"] * 5, "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(part(page, "cell")).to_contain_text(re.compile("After “The”, layer L0 would say"))
    expect(part(page, "cell")).to_contain_text(label(best[places + 1]).strip("·"))


def test_the_lens_says_what_each_layer_would_say(open_page):
    page, writer = opened(open_page, level="intermediate", part="Lens", lens="tuned lens"), models.load("writer")
    trace = writer.trace(TEXT)

    def agrees(value) -> None:
        best = value.sort_values(["layer", "position"])
        shown = [re.fullmatch(r"(.*?)(?: over)? ([\d.]+)\s%", cell) for row in table(page, "lens") for cell in row]
        assert [cell[1] for cell in shown] == [label(text) for text in best["text"]]
        shares = [float(cell[2]) for cell in shown]
        assert shares == pytest.approx((100 * best["probability"]).tolist(), rel=0.006)

    expect(page.get_by_text("goes through an affine map")).to_be_visible()  # the tuned lens, where there is one
    agrees(tuned_lens(writer, trace, top=1))
    expect(part(page, "facts")).to_contain_text(writer.predict(TEXT, top=1)[0].text.strip())
    page.get_by_role("radio", name="logit lens", exact=True).click()
    expect(page.get_by_text("softmax(Wᵁ · norm(h))")).to_be_visible()
    agrees(logit_lens(writer, trace, top=1))
    part(page, "lens").get_by_role("grid").focus()
    for key in ("Home", "ArrowUp", "ArrowUp", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_text("After “The”, layer by layer")).to_be_visible()
    no_error(page)


@pytest.mark.parametrize("name", ["BERT without a head", "T5"])
def test_other_models_draw_every_part_or_say_why_not(open_page, tmp_path, name):
    kind = "encoder-decoder" if name == "T5" else "encoder"
    made = network(name)
    made.save_pretrained(tmp_path)
    tokenizer(kind).save_pretrained(tmp_path)
    choices = {"model": str(tmp_path), "level": "expert", "text": "The cat sat."}
    if kind == "encoder-decoder":
        choices["target"] = "the dog"
    page = opened(open_page, **choices)
    expect(part(page, "weights").locator("canvas").first).to_be_visible(timeout=WAIT)
    page.get_by_role("radio", name="Statistics", exact=True).click()
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=WAIT)
    page.get_by_role("radio", name="Lens", exact=True).click()
    if kind == "encoder":
        expect(page.get_by_text("no unembedding, hence no lens")).to_be_visible()
    else:
        expect(part(page, "lens").locator("canvas").first).to_be_visible(timeout=WAIT)
    assert page.get_by_text(re.compile("could not be (drawn|read)")).count() == 0


def test_a_grid_draws_blank_cells_blank_and_text_as_text(draw):
    values = np.array([[0.25, np.nan, 1.0]])
    page = draw(
        grid_view(values, [NASTY], ["a", "b", "c"], unit="%", scale=(0, 1), notes=[[NASTY] * 3], texts=[["x", "y", NASTY]])
    )
    at = """() => { const c = document.querySelector(".box canvas"), ring = c.getBoundingClientRect();
      const box = document.querySelector(".pointed").getBoundingClientRect(), scale = c.width / ring.width;
      return [...c.getContext("2d").getImageData((box.x - ring.x + 4) * scale, (box.y - ring.y + 4) * scale, 1, 1).data]; }"""
    page.get_by_role("grid").focus()
    page.keyboard.press("Home")
    first = page.evaluate(at)
    expect(page.locator(".tip")).to_have_text(f"{NASTY} a: 25.0 %\n{NASTY}")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(at)[3] == 0, "what is masked is not drawn"
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(at) == [*(int(LIGHT["accent"][i : i + 2], 16) for i in (1, 3, 5)), 255] != first
    page.keyboard.press("Enter")
    assert page.evaluate("told") == [{"name": "chosen", "value": [0, 2]}], "and cannot be pressed"
    assert page.title() != "caught" and page.locator("img").count() == 0
    assert table(page) == [["x 25.0\u00a0%", "y –", f"{NASTY} 100\u00a0%"]]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_wide_grid_scrolls_to_what_is_chosen_and_the_page_does_not(draw, redraw, width):
    def made(at: int):
        return grid_view(np.zeros((2, 40)), "ab", [f"token {i}" for i in range(40)], cell=(60, 90), height=27, chosen=(0, at))

    page = draw(made(39), width=width)
    seen = """() => { const s = document.querySelector(".scroll").getBoundingClientRect();
      const c = document.querySelector(".chosen").getBoundingClientRect();
      const columns = (s.width - 5) / (c.width + 1.5);
      return c.left >= s.left && c.right + 3.5 <= s.right + 0.5 && Math.abs(columns - Math.round(columns)) < 0.05; }"""
    assert page.evaluate(seen)
    redraw(page, made(0))
    assert page.evaluate(seen)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
