"""Each page once, as a visitor meets it: it opens, answers what is typed, its main control works, and its picture is taken away.

These are the browser tests of `make test`; all others are in `make test-all`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from tests.browser.pages.test_take_away import button, take
from tests.browser.pages.test_taken_away import words_in
from tests.browser.pages.test_type import bars, box, no_error
from tests.pages.opening import PAGES

pytestmark = pytest.mark.smoke
WAIT = 60_000
TEXT = "The cat sat on the"


class Visit(NamedTuple):
    """What is done on one page, and what its picture says afterwards."""

    address: str
    control: Callable[[Page], None]
    words: tuple[str, ...] = ()  # of the SVG; none where the page has no picture to take away
    answer: str = r"^[·\s]?snow$"  # what stands on the page after " snow" was typed; "" where the page has no text box


def append_a_prediction(page: Page) -> None:
    bars(page).first.click()
    expect(box(page)).to_have_value(re.compile("snow."))


def choose_the_heatmap(page: Page) -> None:
    page.get_by_role("radio", name="Heatmap").or_(page.get_by_role("button", name="Heatmap")).first.click()
    expect(page.locator(".js-plotly-plot")).to_be_visible(timeout=WAIT)


def pick_a_pair(page: Page) -> None:
    page.locator("[data-part=to]").get_by_role("button", name="cat").click()
    expect(page.get_by_text("From “snow” to “cat”")).to_be_visible()


def follow_another_token(page: Page) -> None:
    token = page.locator("[data-part=chips]").get_by_role("option").nth(3)
    picture = page.locator(".st-key-flow-methods [data-part='gradient rollout'] .text")
    answer = page.get_by_test_id("stMain").get_by_text("whatever is predicted? Rollout puts")
    expect(page).to_have_url(re.compile("snow"), timeout=WAIT)  # a press before the text is kept may show the one before
    expect(picture).to_contain_text("snow")
    before = answer.inner_text()
    token.click()
    expect(token).to_have_attribute("aria-selected", "true")
    expect(answer).not_to_have_text(before)
    expect(page).to_have_url(re.compile("token=3"), timeout=WAIT)
    expect(picture).to_contain_text("snow")


def play_the_layers(page: Page) -> None:
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".stage")).to_have_text("after L0", timeout=WAIT)
    page.get_by_role("slider", name="Layer").press("End")
    expect(page.locator(".stage")).to_have_text("after L5", timeout=WAIT)


def open_a_stage(page: Page) -> None:
    page.locator(".hl-way-view.strip .stop", has_text="Weights").click(timeout=WAIT)
    expect(page.locator(".hl-way-view .stop[aria-expanded=true] .name")).to_have_text(re.compile("Weights"))


def generate_a_token(page: Page) -> None:
    tokens = page.locator("[data-part=text] .token")
    count = tokens.count()
    page.get_by_role("button", name="Go on by one", exact=True).click()
    expect(tokens).to_have_count(count + 1)


def choose_a_method(page: Page) -> None:
    page.get_by_role("combobox", name="Method").click()
    page.get_by_role("option", name="Integrated gradients", exact=True).click()
    expect(page).to_have_url(re.compile("explain-by=Integrated"), timeout=WAIT)


def switch_a_head_off(page: Page) -> None:
    page.locator("[data-part=parts]").get_by_role("grid").press("Enter")
    expect(page.get_by_role("button", name="L2 H3: off")).to_be_visible()


def open_a_head(page: Page) -> None:
    page.locator(".hl-grid-view").first.get_by_role("grid").press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("stMain").get_by_role("heading", name="L2 H4", exact=True)).to_be_visible(timeout=WAIT)


def build_four_layers(page: Page) -> None:
    page.get_by_label("Layers", exact=True).fill("4")
    page.keyboard.press("Enter")
    expect(page.locator(".hl-architecture .times")).to_have_text("× 4")


def train_twenty_steps(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Done: 20 steps")).to_be_visible(timeout=WAIT)


def teach_three_steps(page: Page) -> None:
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=WAIT)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_text("Done: 3 steps")).to_be_visible(timeout=WAIT)


def start_a_lesson(page: Page) -> None:
    page.get_by_role("button", name="Start", exact=True).first.click()
    expect(page.locator(".st-key-lesson").get_by_role("heading", level=4)).to_be_visible(timeout=WAIT)


def open_a_room(page: Page) -> None:
    page.get_by_test_id("stMain").get_by_role("button", name="Open a room", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^[A-Z]{6}$"), level=1)).to_be_visible(timeout=WAIT)


def leaf_to_another_layer(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^L4: ")).click()
    expect(page.locator(".hl-stations-view .panel")).to_have_text("Layer L4, one of 6 (after L0 to L3)")
    expect(page).to_have_url(re.compile("layer=L4"), timeout=WAIT)


VISITS = {
    "overview": Visit("?level=intermediate", leaf_to_another_layer, ("cat", "snow", "Feed-forward")),
    "type": Visit("?level=intermediate", append_a_prediction, ("cat",)),
    "attention": Visit("?level=intermediate&view=Reading", choose_the_heatmap, ("cat", "snow")),
    "layers": Visit("?level=intermediate", pick_a_pair, ("from (query)", "layer by layer")),  # its tokens are drawn
    "flow": Visit("?level=intermediate", follow_another_token, ("cat", "snow")),
    "space": Visit("?level=intermediate&space=Tokens", play_the_layers, ("after L5", "cat")),
    "inside": Visit("?level=intermediate&stage=ids", open_a_stage, ("Queries", "Weights")),
    "generate": Visit("?level=intermediate", generate_a_token, ("snow",)),
    "explain": Visit("?level=intermediate", choose_a_method, ("cat", "snow")),
    "change": Visit("?level=intermediate&layer=L2&head=H3", switch_a_head_off, ("The parts of the model",)),
    "heads": Visit("?level=intermediate&layer=L2&head=H3", open_a_head, ("layer", "head"), answer="^L2 H3$"),
    "build": Visit("?level=intermediate", build_four_layers, ("Embedding", "× 4"), answer=r"\[7, 256\]"),
    "train": Visit(
        "?level=intermediate&train-task=Copy&train-steps=20&train-layers=1&train-d_model=32&train-heads=2",
        train_twenty_steps,
        ("step",),
        answer="",
    ),
    "adapt": Visit(
        "?level=intermediate&adapt-steps=3&adapt-part=Learning", teach_three_steps, ("step", "your sentences"), answer=""
    ),
    "lessons": Visit("?", start_a_lesson, answer=""),
    "room": Visit("?", open_a_room, answer=""),
}


def test_every_page_is_visited():
    assert VISITS.keys() == set(PAGES)


@pytest.mark.parametrize("name", VISITS)
def test_a_page_opens_answers_and_gives_its_picture(open_page, tmp_path: Path, name: str):
    visit = VISITS[name]
    path = "" if name == "type" else name
    page = open_page(f"/{path}{visit.address}&text={TEXT.replace(' ', '+')}")
    expect(page.get_by_role("heading", level=1)).to_have_text(name.capitalize(), timeout=WAIT)
    expect(page.locator("[data-testid=stSidebar]")).to_contain_text("parameters", timeout=WAIT)
    if visit.answer:
        expect(button(page)).to_be_visible(timeout=WAIT)
        box(page).press("End")
        page.keyboard.type(" snow")
        expect(page.get_by_test_id("stMain").get_by_text(re.compile(visit.answer)).first).to_be_attached()
    visit.control(page)
    no_error(page)
    if visit.words:
        button(page).click()
        words = words_in(take(page, "SVG", tmp_path))
        assert all(word in words for word in visit.words), words
