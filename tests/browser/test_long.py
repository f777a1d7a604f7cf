"""Long texts: cut at the context with a sentence, seen through a window; and what else no picture may stumble over."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

import models
from analysis import scope
from tests.browser.pages.test_attention import DRAWN
from tests.browser.places import box_at_rest
from tests.models.networks import network, tokenizer
from viz import head_view, model_view, reading_view
from viz.figures.heatmap import heatmap
from viz.views.overview import overview

WAIT = 60_000
SENTENCE = "The cat sat on the mat, and the dog sat on the cat. "


@pytest.fixture(scope="session")
def folder(tmp_path_factory) -> Path:
    """A tiny GPT-2 with random weights, which reads 1,024 tokens."""
    path = tmp_path_factory.mktemp("long") / "gpt2"
    network("GPT-2").save_pretrained(path)
    tokenizer("decoder").save_pretrained(path)
    return path


@pytest.fixture(scope="session")
def model(folder: Path) -> models.LanguageModel:
    return models.load(str(folder))


def text_of(model: models.LanguageModel, count: int) -> str:
    """A text of so many tokens."""
    text = SENTENCE * (count // 10)
    return text[: model.tokenize(text)[count - 1].end]


def address(folder: Path, text: str, **choices: str) -> str:
    choices = {"model": str(folder), "text": text, "level": "intermediate", "layer": "L1", "head": "H2"} | choices
    return "/attention?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in choices.items())


def box(page: Page):
    return page.get_by_label("Your text", exact=True)


def edges(page: Page) -> list[int]:
    """The window, as its boxes say it."""
    return [int(edge) for edge in page.locator(".hl-overview input").evaluate_all("all => all.map((one) => one.value)")]


def says(page: Page, words: str) -> None:
    expect(page.locator(".hl-overview .note")).to_contain_text(words, timeout=WAIT)


def no_error(page: Page) -> None:
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_text("could not be drawn")).to_have_count(0)


def test_what_a_window_shows_is_exact_and_the_window_follows_the_text(open_page, folder, model):
    text = text_of(model, 700)
    page = open_page(address(folder, text, view="Heatmap"))
    says(page, "from tokens 444–699 to tokens 444–699, of 700")
    page.get_by_label("first key").fill("100")
    page.get_by_label("first key").press("Enter")
    says(page, "from tokens 444–699 to tokens 100–699, of 700")
    page.get_by_label("last key").fill("163")
    page.get_by_label("last key").press("Enter")
    says(page, "to tokens 100–163")
    attention = model.trace(text).attention["self"]
    seen = scope(attention, queries=(444, 699), keys=(100, 163))
    outside = attention[1][2, 444:].sum(-1) - seen[1][2].sum(-1)
    note = page.locator(".hl-overview .note").inner_text()
    assert re.search(r"([\d.]+)\s% of the attention of", note)[1] == f"{100 * outside.mean():.3g}" and "](#" not in note
    page.wait_for_function(f"() => {{ const z = {DRAWN}; return z.length === 256 && z[0].length === 64; }}", timeout=WAIT)
    np.testing.assert_allclose(np.array(page.evaluate(DRAWN)) / 100, seen[1][2], atol=1e-6)
    names = page.evaluate("(({ x, y }) => [x[0], y[0]])(document.querySelector('.js-plotly-plot').data[0])")
    assert [name.split("(")[-1] for name in names] == ["100)", "444)"]
    box(page).click()
    page.keyboard.press("End")
    page.keyboard.type(" z", delay=60)
    grown = len(model.tokenize(text + " z"))
    says(page, f"from tokens {grown - 256}–{grown - 1} to tokens 100–163, of {grown}")  # the end follows the text, the rest stays
    no_error(page)


def test_the_browser_is_resized_in_mid_drag_and_the_drag_goes_on(open_page, folder, model):
    page = open_page(address(folder, text_of(model, 700)))
    says(page, "from tokens 444–699 to tokens 444–699")
    stage = page.locator(".hl-overview .stage")
    sentence = page.locator(".hl-head-view .sentence")
    expect(sentence).to_contain_text(re.compile("L1 H|No weight of 2\\s%"), timeout=WAIT)

    def at(query: float, key: float) -> tuple[float, float]:
        place = stage.bounding_box()
        return place["x"] + place["width"] * key / 700, place["y"] + place["height"] * query / 700

    page.mouse.move(*at(570, 570))
    page.mouse.down()
    page.mouse.move(*at(570, 300), steps=3)
    page.set_viewport_size({"width": 390, "height": 800})
    narrow = (
        "node => new Promise((done) => { const ask = () => (node.clientWidth < 200 ? done() : setTimeout(ask, 20)); ask(); })"
    )
    stage.evaluate(narrow)
    box_at_rest(stage)  # what stands above it becomes narrow too, and moves it
    page.mouse.move(*at(570, 130), steps=3)
    page.mouse.up()
    first = edges(page)[2]
    assert edges(page) == [444, 699, first, first + 255] and first < 20, "it stands where the pointer let it go"
    says(page, f"to tokens {first}–{first + 255}")
    page.set_viewport_size({"width": 1280, "height": 800})
    expect(page.locator(".hl-head-view .side.to")).to_have_attribute("aria-valuemax", "256")
    stage.focus()
    page.keyboard.press("Home")
    says(page, "from tokens 0–255 to tokens 0–255")
    expect(sentence).to_contain_text(re.compile("L1 H|No weight of 2\\s%"))
    no_error(page)


def test_a_text_longer_than_the_context_is_cut_with_a_sentence(open_page, folder, model):
    page = open_page(address(folder, "The cat", view="Reading", level="beginner"))
    expect(page.locator(".hl-reading-view .token").first).to_be_visible(timeout=WAIT)
    box(page).fill(text_of(model, 2000))
    expect(page.get_by_text("reads at most 1,024 tokens at a time")).to_be_visible(timeout=WAIT)
    expect(page.locator(".hl-reading-view .token")).to_have_count(1024)
    page.locator(".hl-reading-view .token").nth(500).hover()
    expect(page.locator(".hl-reading-view .sentence")).to_contain_text("looks most at")
    page.get_by_role("radio", name="Heatmap", exact=True).click()
    expect(page.locator(".hl-overview .note")).to_contain_text(re.compile(r"its parts [\d,]+ to [\d,]+ of 1,024\."), timeout=WAIT)
    no_error(page)


def test_a_model_whose_weights_are_not_numbers_is_refused_in_a_sentence(open_page, folder, tmp_path):
    network("GPT-2").save_pretrained(tmp_path / "broken")
    broken = network("GPT-2")
    broken.transformer.h[1].mlp.c_fc.weight.data[0, 0] = torch.nan
    broken.save_pretrained(tmp_path / "broken")
    tokenizer("decoder").save_pretrained(tmp_path / "broken")
    page = open_page(address(tmp_path / "broken", "The cat"))
    expect(page.get_by_text("not numbers").first).to_be_visible(timeout=WAIT)


def sent_windows(page: Page) -> list[list[int]]:
    return [event["value"] for event in page.evaluate("told")]


def map_of(count: int, window: tuple, **options):
    words = [SimpleNamespace(text=f" w{i}") for i in range(count)]
    weights = np.tril(np.ones((count, count), dtype=np.float32)) / np.arange(1, count + 1)[:, None]
    return overview(words, words, weights, window, **options)


def test_the_window_goes_by_keys_edges_wheel_and_double_press(draw):
    page = draw(map_of(1600, ((100, 299), (100, 299))))
    stage = page.locator(".stage")
    stage.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    assert edges(page) == [75, 274, 125, 324]
    page.keyboard.press("Shift+ArrowLeft")
    assert edges(page) == [75, 274, 125, 299]
    page.keyboard.press("End")
    assert edges(page) == [1400, 1599, 1425, 1599]
    page.wait_for_function("told.at(-1)?.value.join() === '1400,1599,1425,1599'")
    place = stage.bounding_box()
    page.mouse.move(place["x"] + place["width"] * 1425 / 1600, place["y"] + place["height"] * 1500 / 1600)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 800 / 1600, place["y"] + place["height"] * 1300 / 1600, steps=3)
    page.mouse.up()
    window_edges = edges(page)
    assert (window_edges[0], window_edges[1], window_edges[3]) == (1400, 1599, 1599) and abs(window_edges[2] - 800) < 10, (
        "an edge alone moved"
    )
    page.mouse.wheel(0, -100)
    assert edges(page)[3] - edges(page)[2] < window_edges[3] - window_edges[2]
    stage.dblclick()
    assert edges(page) == [576, 1599, 576, 1599], "all, as far as 1,024 go"
    page.get_by_label("first query").fill("0")
    page.get_by_label("first query").press("Enter")
    assert edges(page) == [0, 1023, 576, 1599]
    page.wait_for_function("told.at(-1)?.value.join() === '0,1023,576,1599'")
    assert all(0 <= a <= b < 1600 and b - a < 1024 for event in sent_windows(page) for a, b in (event[:2], event[2:]))


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_grave_on_the_map(draw, dark):
    page = draw(map_of(300, ((0, 99), (0, 99)), note="A long text."), dark=dark)
    expect(page.locator(".stage")).to_be_visible()
    assert [
        violation["id"] for violation in Axe().run(page).response["violations"] if violation["impact"] in ("serious", "critical")
    ] == []


def test_what_is_pointed_at_on_the_map_is_said_with_its_largest_weight(draw):
    page = draw(map_of(512, ((0, 63), (0, 63))))
    place = page.locator(".stage").bounding_box()
    page.mouse.move(place["x"] + 0.5, place["y"] + 0.5)
    expect(page.locator(".said")).to_have_text("“w0” … (0–1) looks at “w0” … (0–1): at most 100 %")


def test_a_late_echo_does_not_move_the_window_back_and_the_app_can(draw, redraw):
    page = draw(map_of(600, ((0, 99), (0, 99))))
    page.locator(".stage").focus()
    page.keyboard.press("End")
    page.wait_for_function("told.length === 1")
    page.keyboard.press("Home")
    page.wait_for_function("told.length === 2")
    redraw(page, map_of(600, ((500, 599), (500, 599))))
    assert edges(page) == [0, 99, 0, 99]
    redraw(page, map_of(600, ((7, 106), (0, 99))))
    assert edges(page) == [7, 106, 0, 99]


SCRIPT = "<script>document.title='caught'</script>" * 80  # one token of over 3,000 characters
HOSTILE = [SimpleNamespace(id=i, text=text, special=False, fragment=False, segment=0) for i, text in enumerate(["a", SCRIPT])]
ONE = HOSTILE[:1]
NONE = np.full((2, 2), np.nan)


@pytest.mark.parametrize(
    "view",
    [
        head_view(HOSTILE, HOSTILE, np.full((2, 2, 2), 0.5)),
        reading_view(HOSTILE, np.full((2, 2), 0.5)),
        reading_view(HOSTILE, np.full((3, 2, 2), 0.5)),
        overview(HOSTILE, HOSTILE, np.full((2, 2), 0.5), ((0, 1), (0, 1)), note=SCRIPT),
        model_view(np.full((1, 2, 2, 2), 0.5), notes=[[SCRIPT, ""]]),
    ],
    ids=["head", "reading", "reading heads", "overview", "model"],
)
def test_a_token_that_is_a_long_script_stays_text(draw, view):
    page = draw(view)
    assert page.title() != "caught" and page.locator(".hl script").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize(
    "view",
    [
        head_view(ONE, ONE, np.ones((2, 1, 1))),
        reading_view(ONE, np.ones((2, 1, 1))),
        overview(ONE, ONE, np.ones((1, 1)), ((0, 0), (0, 0))),
    ],
    ids=["head", "reading", "overview"],
)
def test_one_token_is_drawn(draw, view):
    page = draw(view)
    expect(page.locator(".hl")).to_be_visible()
    expect(page.get_by_text("not a number")).to_have_count(0)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (head_view(HOSTILE, HOSTILE, np.stack([NONE, NONE])), "8 weights are not"),
        (reading_view(HOSTILE, np.stack([NONE, NONE])), "8 weights are not"),
        (overview(HOSTILE, HOSTILE, NONE, ((0, 1), (0, 1))), ""),
        (model_view(NONE[None, None]), ""),
    ],
    ids=["head", "reading", "overview", "model"],
)
def test_weights_that_are_not_numbers_are_drawn_as_nothing_and_counted(draw, view, words):
    page = draw(view)
    expect(page.locator(".hl")).to_contain_text(words)


def test_a_heatmap_of_what_is_not_a_number_is_blank():
    assert np.isnan(heatmap(["a", "b"], ["a", "b"], NONE).data[0].z).all()
