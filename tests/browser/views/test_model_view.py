"""The model view in a real browser: each head at its place, in any order, with its frame, its name and its numbers."""

from __future__ import annotations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from viz.palette import HEADS
from viz.views.model_view import model_view

NASTY = "<img src=x onerror=\"document.title='caught'\">"


def maps(layers: int, heads: int, count: int = 4) -> np.ndarray:
    """Every head looks at the first token, except L1 H2, which looks at itself."""
    numbers = np.zeros((layers, heads, count, count), dtype=np.float32)
    numbers[..., 0] = 1
    numbers[1, 2] = np.eye(count)
    return numbers


def colour(page: Page, across: float, down: float) -> list[float]:
    """The canvas at a share of the head that is outlined as chosen, its frame included: [red, green, blue, opacity]."""
    return page.evaluate(
        """([across, down]) => {
          const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect();
          const ring = document.querySelector(".chosen").getBoundingClientRect(), scale = canvas.width / box.width;
          const x = ring.x - box.x + across * ring.width, y = ring.y - box.y + down * ring.height;
          return [...canvas.getContext("2d").getImageData(x * scale, y * scale, 1, 1).data]; }""",
        [across, down],
    )


def test_a_head_is_drawn_at_its_place_whatever_the_order(draw, redraw):
    order = np.random.default_rng(0).permutation(24)
    page = draw(model_view(maps(4, 6), chosen=(1, 2), order=order))
    expect(page.locator(".labels span")).to_have_text([f"L{head // 6} H{head % 6}" for head in order])
    expect(page.get_by_role("gridcell")).to_have_text([f"L{head // 6} H{head % 6}" for head in order])
    for i in range(4):
        place = [(i + 0.5) / 4, 0.625]  # the third row: the eye looks at the third key, the others at the first
        assert colour(page, *place)[3] == (255 if i == 2 else 0)
    redraw(page, model_view(maps(4, 6), chosen=(0, 0), order=order))
    assert [colour(page, (i + 0.5) / 4, 0.625)[3] for i in range(4)] == [255, 0, 0, 0]
    redraw(page, model_view(maps(4, 6), chosen=(1, 2)))
    expect(page.locator(".labels .layer")).to_have_text([f"L{i}" for i in range(4)])
    expect(page.locator(".labels .head")).to_have_text([f"H{i}" for i in range(6)])
    assert [colour(page, (i + 0.5) / 4, 0.625)[3] for i in range(4)] == [0, 0, 255, 0]


def test_pointing_shows_a_head_larger_with_its_words_and_a_press_tells_it(draw):
    values = np.arange(24).reshape(4, 6) / 10
    page = draw(model_view(maps(4, 6), notes=[[NASTY] * 6] * 4, values=values, unit="nats"))
    place = """([layer, head]) => {
      const middle = (name, i) => { const box = document.querySelectorAll(".labels ." + name)[i].getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2]; };
      return [middle("head", head)[0], middle("layer", layer)[1]]; }"""
    page.mouse.move(*page.evaluate(place, [1, 2]))
    large = page.locator(".large")
    expect(large).to_be_visible()
    expect(large).to_contain_text("L1 H2" + NASTY + "0.8 nats")
    diagonal = large.locator("canvas").evaluate(
        "node => [0, 1, 2, 3].map((i) => [0, 1, 2, 3].map((j) => node.getContext('2d').getImageData(j, i, 1, 1).data[3] / 255))"
    )
    assert diagonal == np.eye(4).tolist()
    page.mouse.click(*page.evaluate(place, [3, 5]))
    page.mouse.move(900, 700)
    expect(large).to_be_hidden()
    assert page.evaluate("told.map((one) => one.value)") == [[3, 5]]
    expect(page.get_by_role("gridcell", selected=True)).to_have_text(f"L3 H5: {NASTY}, 2.3 nats")
    assert page.locator("img").count() == 0 and page.title() != "caught"


def test_a_head_that_is_pointed_at_elsewhere_is_pointed_at_here_and_the_other_way_round(draw):
    page = draw(model_view(maps(4, 6), link="heads"))
    page.evaluate("() => { window.points = []; addEventListener('headlight:point', ({ detail }) => points.push(detail)); }")
    point = "(position) => dispatchEvent(new CustomEvent('headlight:point', { detail: { link: 'heads', position } }))"
    page.evaluate(point, 8)
    expect(page.locator(".large")).to_contain_text("L1 H2")
    page.evaluate(point, -1)
    expect(page.locator(".large")).to_be_hidden()
    assert page.evaluate("points.length") == 2, "what is told here is not told on"
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("points.slice(2).map(({ link, position }) => [link, position])") == [["heads", 0], ["heads", 1]]


def test_the_keyboard_goes_along_layers_or_along_another_order(draw):
    page = draw(model_view(maps(4, 6), chosen=(1, 2)))
    page.keyboard.press("Tab")
    for key in ("ArrowDown", "ArrowRight", "Enter", "End", "ArrowRight", "Enter", "Home", "ArrowUp", "ArrowUp", "ArrowUp", " "):
        page.keyboard.press(key)
    assert page.evaluate("told.map((one) => one.value)") == [[2, 3], [2, 5], [0, 0]]
    expect(page.locator(".large")).to_contain_text("L0 H0")
    page.keyboard.press("Escape")
    expect(page.locator(".large")).to_be_hidden()

    backwards = draw(model_view(maps(4, 6), order=np.arange(24)[::-1]))
    backwards.keyboard.press("Tab")
    for key in ("ArrowRight", "Enter", "ArrowLeft", "ArrowLeft", "Enter"):
        backwards.keyboard.press(key)
    assert backwards.evaluate("told.map((one) => one.value)") == [[3, 4], [3, 5]]
    active = backwards.locator("#" + backwards.get_by_role("grid").get_attribute("aria-activedescendant"))
    expect(active).to_have_text("L3 H5")


def test_a_frame_has_the_colour_of_its_value(draw, redraw):
    values = np.full((2, 3), 0.5)
    values[0, 0], values[1, 1], values[1, 2] = 0, 1, np.nan
    page = draw(model_view(maps(2, 3), chosen=(0, 0), values=values, unit="nats"))
    expect(page.locator(".legend")).to_contain_text("frame: 0")
    expect(page.locator(".legend")).to_contain_text("1 nats")
    edge = (0.02, 0.5)
    assert colour(page, *edge)[:3] == [0x00, 0x22, 0x4E]
    redraw(page, model_view(maps(2, 3), chosen=(1, 1), values=values))
    assert colour(page, *edge)[:3] == [0xFE, 0xE8, 0x38]
    redraw(page, model_view(maps(2, 3), chosen=(1, 2), values=values))
    assert colour(page, *edge)[3] == 0, "no value, no frame"
    redraw(page, model_view(maps(2, 3), chosen=(1, 2), values=np.array([["a", "a", "a"], ["a", "b", "b"]])))
    assert colour(page, *edge)[:3] == list(bytes.fromhex(HEADS[1].removeprefix("#"))), "that of the second name"
    expect(page.locator(".swatch")).to_have_text(["a", "b"])


def test_a_filter_leaves_heads_faint_and_says_how_many(draw, redraw):
    faint = np.ones((2, 3), dtype=bool)
    faint[1, 2] = False
    page = draw(model_view(maps(2, 3), chosen=(0, 0), faint=faint))
    expect(page.get_by_role("status")).to_have_text("1 of 6 heads pass the filter.")
    assert 0 < colour(page, 0.125, 0.5)[3] < 80
    expect(page.get_by_role("gridcell").first).to_have_text("L0 H0: left out")
    redraw(page, model_view(maps(2, 3), chosen=(0, 0), faint=~faint))
    assert colour(page, 0.125, 0.5)[3] == 255
    redraw(page, model_view(maps(2, 3), faint=faint | True))
    expect(page.get_by_role("status")).to_have_text("No head passes the filter: all are drawn faint.")
    redraw(page, model_view(maps(2, 3)))
    expect(page.get_by_role("status")).to_be_hidden()


@pytest.mark.parametrize("shape", [(6, 8), (12, 12), (32, 32)], ids=str)
@pytest.mark.parametrize("ordered", [False, True], ids=["layers", "ordered"])
def test_it_fits_the_width_there_is(draw, shape, ordered):
    count = shape[0] * shape[1]
    options = {"order": np.arange(count)[::-1], "values": np.arange(count).reshape(shape)} if ordered else {}
    view = model_view(maps(*shape), chosen=(1, 2), **options)
    page = draw(view, width=390)
    for width in (390, 1280, 700):
        page.set_viewport_size({"width": width, "height": 800})
        page.wait_for_function("width => document.documentElement.scrollWidth <= width", arg=width)
        assert page.locator(".chosen").bounding_box()["width"] >= 18
    page.get_by_role("grid").focus()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    box = page.locator(".large").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 700


@pytest.mark.parametrize("shape", [(1, 1, 0, 0), (1, 1, 1, 1), (1, 2, 3, 50)], ids=str)
def test_little_or_nothing_is_drawn_without_an_error(draw, shape):
    page = draw(model_view(np.ones(shape), order=np.arange(shape[1]), values=np.full(shape[:2], np.nan)))
    page.get_by_role("grid").focus()
    page.keyboard.press("Enter")
    assert page.evaluate("told.map((one) => one.value)") == [[0, 0]]
