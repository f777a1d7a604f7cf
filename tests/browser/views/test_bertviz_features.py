"""What BertViz's three views do, done on page "Attention" for each kind of model: docs/bertviz.md names these tests.

One page a case stays open for all tests; each test chooses what it needs on it.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import models
from analysis import query_key
from models.trace import Trace
from tests.serving import Watched

TEXT, SECOND = "The cat sat on the mat.", "the dog sat"
WAIT = 60_000
CASES = {  # model, what it reads besides, which attention
    "decoder": ("writer", "", "self"),
    "encoder": ("BERT", SECOND, "self"),
    "cross": ("T5", SECOND, "cross"),
}
each = pytest.mark.parametrize("case", CASES)
few = pytest.mark.parametrize("case", ["decoder", "cross"])  # of what does not hang on which tokens there are


@dataclass
class Opened:
    """A page with a model, and what the model says of the same text."""

    page: Page
    trace: Trace
    kind: str

    @property
    def attention(self):
        return self.trace.attention[self.kind]

    def view(self, name: str) -> Page:
        choose(self.page, name)
        kind = {"Head": ".hl-head-view", "Model": ".hl-model-view", "Query-key": ".hl-query-key-view", "BertViz": "iframe"}[name]
        expect(self.page.locator(f"[data-testid=stMain] {kind}").first).to_be_visible()
        return self.page

    def layer(self, layer: int) -> None:
        pick(self.page.get_by_role("combobox", name="Layer", exact=True), f"L{layer}")

    def alone(self, head: int) -> None:
        """Only this head is on."""
        chip = head_chip(self.page, head)
        if self.page.locator(".head[aria-pressed=true]").count() > 1 or chip.get_attribute("aria-pressed") == "false":
            chip.dblclick()
        expect(self.page.locator(".head[aria-pressed=true]")).to_have_text([f"H{head}"])


@pytest.fixture(scope="module")
def opened(browser: Browser, app_url: str, folders) -> Iterator[Callable[[str], Opened]]:
    pages: dict[str, Opened] = {}
    contexts: list[Watched] = []

    def open_(case: str) -> Opened:
        if case not in pages:
            name, second, kind = CASES[case]
            name = str(folders.get(name, name))
            choices = {"model": name, "text": TEXT, "level": "expert", "view": "Head", "layer": "L1", "head": "H1"}
            choices |= {"target": second} if second else {}
            choices |= {"two-texts": "true"} if case == "encoder" else {}
            choices |= {"attention": kind.capitalize()} if kind != "self" else {}
            contexts.append(Watched(browser, height=1400))
            page = contexts[-1].page()
            page.goto(f"{app_url}/attention?" + "&".join(f"{key}={value}" for key, value in choices.items()))
            expect(page.get_by_role("combobox", name="Model")).to_have_value(name, timeout=WAIT)
            model = models.load(name)
            facts = re.compile(f"{model.info.kind.capitalize()}: {model.info.layers} ")
            expect(page.locator("[data-testid=stSidebar]")).to_contain_text(facts, timeout=WAIT)
            trace = model.trace(TEXT, second)
            expect(labels(page, "from")).to_have_count(len(trace.attention[kind].queries), timeout=WAIT)
            pages[case] = Opened(page, trace, kind)
        return pages[case]

    yield open_
    for context in contexts:
        context.close()


def choose(page: Page, name: str) -> None:
    """Press a choice of a row of them."""
    page.get_by_role("radio", name=name, exact=True).or_(page.get_by_role("button", name=name, exact=True)).first.click()


def pick(box: Locator, option: str) -> None:
    """Choose in a picker, unless it is chosen."""
    if box.input_value() != option:
        box.click()
        box.page.get_by_role("option", name=option, exact=True).click()
        expect(box).to_have_value(option)


def head_chip(page: Page, head: int) -> Locator:
    return page.get_by_role("button", name=f"H{head}", exact=True)


def sentence(page: Page) -> Locator:
    return page.locator(".hl-head-view .sentence")


def labels(page: Page, side: str) -> Locator:
    return page.locator(f".hl-head-view .side.{side} .label:visible")


def placed(page: Page, side: str) -> list[tuple[float, float, str]]:
    """Where the words of a side stand, from the first one on, and the number beside each."""
    script = """all => all.map((one) => { const box = one.querySelector(".word").getBoundingClientRect();
      return [box.y + box.height / 2, box.x + box.width / 2, one.querySelector(".number").textContent]; })"""
    return [(x, y, number) for y, x, number in sorted(labels(page, side).evaluate_all(script))]


def numbers_are(page: Page, point: tuple[str, int], weights: np.ndarray) -> None:
    """Point at a token, and the other side says what goes there or comes from there.

    The weights come as bytes, in steps of 1/255, and are written in two digits; under half a per cent nothing is. What the app
    sends meanwhile may draw the view again, so this points again until the numbers are there.
    """
    side, position = point
    other = {"from": "to", "to": "from"}[side]
    wanted, until, patience = np.where(weights < 0.005, 0, weights), time.monotonic() + 30, 60
    while True:
        page.mouse.move(3, 3)
        if position < labels(page, side).count():
            page.mouse.move(*placed(page, side)[position][:2])
            page.wait_for_timeout(patience)
            patience = min(2 * patience, 1000)  # a busy machine draws late
        texts = [number.strip("\u00a0%<") for *_, number in placed(page, other)]
        numbers = np.array([float(text) / 100 if text else 0 for text in texts])
        if numbers.any() and len(numbers) == len(wanted) and np.allclose(numbers, wanted, rtol=0, atol=0.0075):
            break
        if time.monotonic() > until:
            np.testing.assert_allclose(numbers, wanted, rtol=0, atol=0.0075)
            raise AssertionError(f"No numbers: {numbers}")
    phrase = "looks most at" if side == "from" else "is looked at most (by|after)"
    expect(sentence(page)).to_contain_text(re.compile(rf"(\({position}\)|^After .+, choosing .+, it) {phrase}"))


@few
def test_pointing_at_a_token_says_its_weights(opened, case):
    """It takes up to a quarter of a minute: the first of a server that opens a folder imports transformers."""
    opened_case = opened(case)
    page = opened_case.view("Head")
    opened_case.layer(1)
    opened_case.alone(1)
    weights = opened_case.attention[1][1]
    for query in (1, 2):
        numbers_are(page, ("from", query), weights[query])
    numbers_are(page, ("to", 0), weights[:, 0])


@few
def test_a_press_switches_a_head_and_two_leave_it_alone(opened, case):
    opened_case = opened(case)
    page = opened_case.view("Head")
    opened_case.layer(1)
    opened_case.alone(2)
    head_chip(page, 0).click()
    expect(page.locator(".head[aria-pressed=true]")).to_have_text(["H0", "H2"])
    numbers_are(page, ("from", 1), opened_case.attention[1][[0, 2]].mean(0)[1])
    expect(sentence(page)).to_contain_text("on average of 2 heads")
    head_chip(page, 2).click()
    expect(page.locator(".head[aria-pressed=true]")).to_have_text(["H0"])
    head_chip(page, 0).dblclick()
    expect(page.locator(".head[aria-pressed=true]")).to_have_count(opened_case.attention.heads)


@few
def test_the_layer_menu_draws_another_layer(opened, case):
    opened_case = opened(case)
    page = opened_case.view("Head")
    opened_case.layer(1)
    opened_case.alone(1)
    opened_case.layer(0)
    expect(page).not_to_have_url(re.compile("layer=L1"))
    expect(page.locator(".head[aria-pressed=true]")).to_have_text(["H1"])
    page.mouse.move(3, 3)
    expect(sentence(page)).to_contain_text("L0")
    numbers_are(page, ("from", 2), opened_case.attention[0][1][2])
    assert np.abs(opened_case.attention[0][1][2] - opened_case.attention[1][1][2]).max() > 0.02, (
        "the two layers could not be told apart"
    )


def test_sentences_of_a_pair_can_be_filtered(opened):
    opened_case = opened("encoder")
    page = opened_case.view("Head")
    opened_case.layer(1)
    opened_case.alone(1)
    which, weights = page.get_by_label("sentences"), opened_case.attention[1][1]
    second = np.array([token.segment for token in opened_case.trace.tokens])
    page.mouse.move(3, 3)
    for queries, keys in np.ndindex(2, 2):
        which.select_option(f"{'AB'[queries]} to {'AB'[keys]}")
        lines = (weights[np.ix_(second == queries, second == keys)] >= 0.02).sum()  # from 2 % on, as the slider says
        expect(sentence(page)).to_contain_text(f": {lines} lines, of 2 % and more")
    which.select_option("all")


def test_encoder_decoder_and_cross_attention_are_chosen_in_the_side_bar(opened):
    opened_case = opened("cross")
    page, trace = opened_case.view("Head"), opened_case.trace
    opened_case.layer(1)
    opened_case.alone(1)
    for name, queries, keys in (
        ("Encoder", trace.tokens, trace.tokens),
        ("Decoder", trace.target, trace.target),
        ("Cross", trace.target, trace.tokens),
    ):
        choose(page, name)
        expect(labels(page, "from")).to_have_count(len(queries))
        expect(labels(page, "to")).to_have_count(len(keys))
        opened_case.alone(1)
        numbers_are(page, ("from", 1), trace.attention[name.lower()][1][1][1])


@few
def test_a_thumbnail_of_the_model_view_opens_its_head(opened, case):
    opened_case = opened(case)
    page, layer, head = opened_case.view("Model"), opened_case.attention.layers - 1, 2
    expect(page.get_by_role("gridcell")).to_have_count(opened_case.attention.layers * opened_case.attention.heads)
    place = page.locator(".hl-model-view").evaluate(
        """(root, [layer, head]) => {
          const middle = (name, i) => { const box = root.querySelectorAll(".labels ." + name)[i].getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2]; };
          return [middle("head", head)[0], middle("layer", layer)[1]]; }""",
        [layer, head],
    )
    page.mouse.move(*place)
    expect(page.locator(".large")).to_contain_text(f"L{layer} H{head}")
    page.mouse.click(*place)
    expect(page.locator(".hl-head-view")).to_be_visible()
    expect(page.get_by_role("combobox", name="Layer", exact=True)).to_have_value(f"L{layer}")
    expect(page.get_by_role("combobox", name="Head", exact=True)).to_have_value(f"H{head}")
    opened_case.alone(head)
    numbers_are(page, ("from", 1), opened_case.attention[layer][head][1])


@few
def test_query_times_key_leads_to_the_weight(opened, case):
    opened_case = opened(case)
    page = opened_case.view("Query-key")
    opened_case.layer(1)
    pick(page.get_by_role("combobox", name="Head", exact=True), "H2")
    queries = page.get_by_role("combobox", name="Query", exact=True)
    queries.click()
    page.get_by_role("option", name=re.compile("^2 ")).click()
    parts = query_key(opened_case.attention, 1, 2, 2)
    rows = page.locator(".hl-query-key-view .row:visible")  # as many as fit; the others scroll
    expect(rows).to_have_count(min(len(parts.k), 16))

    def numbers() -> np.ndarray:
        """Of each row q·k, score and weight, as the view writes them: three digits."""
        texts = [rows.locator(name).all_inner_texts() for name in (".sum", ".score", ".weight .number")]
        texts[2] = ["0" if text == "masked" else text.replace("\u00a0%", "e-2") for text in texts[2]]
        return np.array([[float(text.replace("−", "-").removeprefix("under ")) for text in column] for column in texts])

    wanted, until = np.array([parts.raw, parts.score, opened_case.attention[1][2][2]])[:, :16], time.monotonic() + 5
    while not np.allclose(numbers(), wanted, rtol=0.006, atol=1e-4) and time.monotonic() < until:
        page.wait_for_timeout(50)
    np.testing.assert_allclose(numbers(), wanted, rtol=0.006, atol=1e-4)
    np.testing.assert_allclose(parts.k @ parts.q, parts.raw, atol=1e-4)


@few
def test_light_and_dark_follow_the_browser(opened, case):
    opened_case = opened(case)
    page = opened_case.view("Head")
    light = """([selector, what]) => {
      const roots = [document, ...[...document.querySelectorAll("*")].map((one) => one.shadowRoot).filter(Boolean)];
      const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
      pen.fillStyle = getComputedStyle(roots.map((root) => root.querySelector(selector)).find(Boolean))[what];
      pen.fillRect(0, 0, 1, 1);
      return Math.max(...[...pen.getImageData(0, 0, 1, 1).data].slice(0, 3)); }"""
    paper, ink = ["[data-testid=stApp]", "backgroundColor"], [".side.from .label .word", "color"]
    try:
        for scheme, order in (("dark", "<"), ("light", ">")):
            page.emulate_media(color_scheme=scheme)
            page.wait_for_function(f"([paper, ink]) => ({light})(paper) {order} ({light})(ink)", arg=[paper, ink])
            bright, dark = sorted([page.evaluate(light, paper), page.evaluate(light, ink)], reverse=True)
            assert bright - dark > 100
    finally:
        page.emulate_media(color_scheme="light")


@each
def test_bertviz_itself_is_there_with_the_same_weights(opened, case):
    opened_case = opened(case)
    opened_case.view("Head")
    opened_case.layer(1)
    page = opened_case.view("BertViz")
    frame = page.frame_locator("[data-testid=stMain] iframe").first
    expect(frame.locator("#left text")).to_have_count(len(opened_case.attention.queries))
    expect(frame.locator("#right text")).to_have_count(len(opened_case.attention.keys))
    opacity = "all => all.map((line) => [+line.parentNode.parentNode.getAttribute('head-index'), "
    opacity += "+line.getAttribute('left-token-index'), +line.getAttribute('right-token-index'), line.__data__])"
    lines = frame.locator("#attention line")
    expect(frame.locator("#layer")).to_have_value("1")
    numbers = np.zeros_like(opened_case.attention[1])
    for head, query, key, weight in lines.evaluate_all(opacity):
        numbers[head, query, key] = weight
    np.testing.assert_allclose(numbers, opened_case.attention[1], atol=1 / 510 + 1e-4)
    menu = frame.locator("#filter option")
    expect(menu).to_have_count({"decoder": 0, "encoder": 5}.get(case, 3))
