"""The reading view with several heads, and with a number a token, in a real browser."""

from __future__ import annotations

import base64
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit
from playwright.sync_api import Page, expect

from viz import reading_view

WORDS = ["The", " dog", " ran", " into", " it"]
TOKENS = [SimpleNamespace(id=i, text=text, special=i == 0, fragment=False) for i, text in enumerate(WORDS)]
NASTY = "<img src=x onerror=\"document.title='caught'\">"
HEADS = np.stack([np.eye(5), np.eye(5, k=-1) + np.diag([1, 0, 0, 0, 0])])  # one looks at itself, one at the token before


def shades(page: Page) -> list[float]:
    return page.locator(".word").evaluate_all("all => all.map((one) => parseFloat(one.style.getPropertyValue('--shade')) || 0)")


def opacities(page: Page) -> list[list[float]]:
    """How opaque the strips under each word are, a list a word, a number a head."""
    return page.locator(".word").evaluate_all(
        """all => all.map((word) => {
          const { backgroundImage, backgroundPosition } = getComputedStyle(word);
          const layers = backgroundImage.match(/linear-gradient\\((color|rgba?)\\([^)]*\\)/g) ?? [];
          const places = backgroundPosition.split(", "); // a head stands so many strips above the lowest
          const strip = parseFloat(getComputedStyle(word).getPropertyValue("--strip")) + 1;
          const heads = document.querySelectorAll(".legend .key").length;
          const found = Array(heads).fill(0);
          layers.slice(0, -1).forEach((layer, i) => {
            const [, alpha] = layer.match(/[/,]\\s*([\\d.]+)\\)$/) ?? [0, 1];
            const down = parseFloat(places[i].match(/- ([\\d.]+)px/)?.[1] ?? 0);
            found[heads - 1 - Math.round(down / strip)] = layer.includes("rgb(") ? 1 : Number(alpha); });
          return found; })"""
    )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_each_head_has_a_strip_under_the_words_it_looks_at(draw, dark):
    page = draw(reading_view(TOKENS, HEADS, chosen=2, colours=["#b43c00", "#24d8fc"], names=["L2 H1", NASTY]), dark=dark)
    result = opacities(page)
    assert [len(strips) for strips in result] == [2] * 5
    assert result == [[0, 0], [0, 1], [1, 0], [0, 0], [0, 0]]
    expect(page.locator(".legend .key")).to_have_text(["L2 H1", NASTY])
    expect(page.locator(".sentence")).to_contain_text("On average, “ran” looks most at")
    expect(page.locator(".sentence")).to_contain_text(f"L2 H1: itself (100 %), {NASTY}: “dog” (100 %).")
    page.locator(".token").nth(3).hover()
    page.wait_for_function("document.querySelector('.sentence').textContent.includes('“into” looks')")
    assert opacities(page) == [[0, 0], [0, 0], [0, 1], [1, 0], [0, 0]]
    page.locator(".token").nth(2).hover()
    expect(page.locator("tr").first.locator("th")).to_have_text(["Token", "Mean", "L2 H1", NASTY])
    expect(page.locator("tr").nth(2).locator("td")).to_have_text(["50.0 %", "<0.2 %", "100 %"])
    assert page.locator("img").count() == 0 and page.title() != "caught"


def test_one_head_after_several_has_no_strips_left(draw, redraw):
    page = draw(reading_view(TOKENS, HEADS))
    redraw(page, reading_view(TOKENS, HEADS[0]))
    assert opacities(page) == [[]] * 5
    expect(page.locator(".legend")).to_be_hidden()
    expect(page.locator(".sentence")).to_have_text("“it” looks most at itself (100 %).")
    expect(page.locator("tr")).to_have_count(5)


def test_a_word_that_is_written_again_keeps_its_shade(draw, redraw):
    page = draw(reading_view(TOKENS, HEADS[1]))
    before = shades(page)
    assert before[3] > 0
    words = [*TOKENS[:3], SimpleNamespace(id=3, text=" onto", special=False, fragment=False), TOKENS[4]]
    redraw(page, reading_view(words, HEADS[1]))
    expect(page.locator(".word").nth(3)).to_have_text("onto")
    assert shades(page) == before


def test_strips_do_not_lie_on_the_words_or_on_the_next_line(draw):
    many = [SimpleNamespace(id=i, text=" word", special=i % 9 == 0, fragment=False) for i in range(60)]
    page = draw(reading_view(many, np.full((8, 60, 60), 1 / 60)), width=390)
    boxes = page.locator(".word").evaluate_all(
        "all => all.map((word) => { const r = word.getBoundingClientRect(); return [r.top, r.bottom]; })"
    )
    tops = sorted({round(top) for top, _ in boxes})
    assert len(tops) > 4
    for top, bottom in boxes:
        below = [other for other, _ in boxes if other > top + 15]
        assert not below or bottom <= min(below), "a word with its strips reaches into the line below"


@pytest.mark.parametrize("width", [390, 1280])
def test_a_number_below_a_word_stands_clear_of_the_line_below_it_and_of_its_frame(draw, width):
    many = [SimpleNamespace(id=i, text=" word", special=False, fragment=False) for i in range(60)]
    page = draw(reading_view(many, None, quantity=[60.0 - i for i in range(60)], unit="bits", chosen=35), width=width)
    numbers = page.locator(".below b:visible").evaluate_all("all => all.map((b) => b.getBoundingClientRect().bottom)")
    tops = page.locator(".word").evaluate_all("all => all.map((word) => word.getBoundingClientRect().top)")
    frame = 2  # CSS pixels around a word that is asked about
    assert numbers and all(top >= numbers[0] + frame for top in tops if top > tops[0] + 15)


def test_a_number_a_token_shades_the_text_and_is_said(draw, redraw):
    page = draw(reading_view(TOKENS, None, quantity=[np.nan, 16.5, 4.0, 0.0, 8.25], unit="bits", chosen=1))
    expect(page.locator(".sentence")).to_have_text("“dog”: 16.5 bits.")
    expect(page.locator(".legend")).to_have_text("016.5 bits")
    result = shades(page)
    assert result[1] > result[4] > result[2] > result[3] == result[0] == 0
    page.locator(".token").nth(2).hover()
    expect(page.locator(".sentence")).to_have_text("“ran”: 4 bits.")
    assert shades(page) == result
    expect(page.locator("td")).to_have_text(["–", "16.5 bits", "4 bits", "0 bits", "8.25 bits"])
    assert (
        page.locator(".token").nth(0).evaluate("node => node.classList.contains('faint')") and page.locator(".faint").count() == 1
    )
    page.mouse.move(800, 700)
    redraw(page, reading_view(TOKENS, None, quantity=[np.nan, 0.5, 0.001, 0.0, -2.0], unit="nats", chosen=4))
    expect(page.locator("b:visible")).to_have_text(["−2", "0.5"])  # the strongest first, below 0 or above
    redraw(page, reading_view(TOKENS, HEADS[1], chosen=2))
    page.mouse.move(800, 700)
    expect(page.locator(".sentence")).to_have_text("“ran” looks most at “dog” (100 %).")


@pytest.mark.parametrize(
    "view", [reading_view([], np.zeros((2, 0, 0))), reading_view([], None, quantity=[])], ids=["heads", "number"]
)
def test_no_text_is_no_error(draw, view):
    page = draw(view)
    assert page.locator(".token").count() == 0


def test_numbers_stand_below_their_words_when_a_font_comes_after_them(new_page):
    """The font comes in a file, once the words are laid out; the picture keeps its size, and each word stands elsewhere."""
    media = Path(streamlit.__file__).parent / "static" / "static" / "media"
    font = base64.b64encode(next(media.glob("KaTeX_Main-Bold*.woff2")).read_bytes()).decode()
    many = [SimpleNamespace(id=i, text=" word", special=False, fragment=False) for i in range(12)]
    view = reading_view(many, None, quantity=[float(i) for i in range(12)], unit="bits", chosen=11)
    page = new_page()
    style = "<style>* { font-family: late, monospace !important } .text { height: 200px }</style>"
    page.goto("data:text/html;base64," + base64.b64encode((view.to_html() + style).encode()).decode())
    expect(page.locator(".below b:visible").first).to_be_visible()
    before = page.locator(".word").last.bounding_box()
    load = """async (font) => {
      const face = new FontFace("late", `url(data:font/woff2;base64,${font})`);
      document.fonts.add(face);
      await face.load();
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    }"""
    page.evaluate(load, font)
    assert page.locator(".word").last.bounding_box() != before
    middle = "all => all.map((each) => { const { left, right } = each.getBoundingClientRect(); return (left + right) / 2; })"
    words, numbers = (page.locator(which).evaluate_all(middle) for which in (".word", ".below b:visible"))
    assert numbers and all(min(abs(number - word) for word in words[-3:]) < 1 for number in numbers)
