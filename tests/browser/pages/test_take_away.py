"""A picture of page "Attention" taken away by hand, in every form; each file is read back and held to the model."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import nbformat
import numpy as np
import pandas as pd
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

import models
from models.catalog import WEIGHTS
from models.version import VERSION
from tests.browser.pages.test_type import box, no_error
from tests.browser.views.test_export import NAMESPACE, alone, ground_of
from viz.palette import DARK, GROUND, LIGHT

TEXT = "The farmer gave the dog a bone"
NASTY = '=1+1 </script><img src=x onerror="document.title=\'caught\'"> "quoted" 🐕'
WAIT = 60_000
ENDINGS = {"Notebook": "ipynb"}


def open_at(open_page, view: str, text: str = TEXT, level: str = "intermediate", **kwargs) -> Page:
    page = open_page(f"/attention?level={level}&view={view}&layer=L2&head=H3&text={quote(text, safe='')}", **kwargs)
    expect(button(page)).to_be_visible(timeout=WAIT)
    return page


def button(page: Page):
    return page.get_by_role("button", name="Take it away")


def unfold(page: Page) -> None:
    button(page).click()
    expect(page.get_by_role("button", name="HTML", exact=True)).to_be_visible()


def fold(page: Page) -> None:
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="HTML", exact=True)).to_be_hidden()


def take(page: Page, name: str, folder: Path) -> Path:
    """Presses a button and keeps the file."""
    with page.expect_download() as download:
        page.get_by_role("button", name=name, exact=True).click()
    file = folder / download.value.suggested_filename
    assert file.suffix == "." + ENDINGS.get(name, name.lower())
    download.value.save_as(file)
    return file


def seen(file: Path, text: str) -> str:
    """A picture's SVG: what it says, and that it is one."""
    svg = file.read_text("utf-8")
    alone(svg)
    root = ET.fromstring(svg)
    assert text in root[1].text and "writer" in root[0].text
    come_from(root[2].text, text)
    return " ".join("".join(element.itertext()) for element in root.iter(f"{{{NAMESPACE}}}text"))


def drawn(file: Path) -> Image.Image:
    image = Image.open(file)
    assert min(image.size) > 100 and np.asarray(image.convert("RGB")).std() > 5, "a blank picture"
    assert "writer" in image.text["Description"]
    come_from(image.text["Provenance"])
    return image


def come_from(words: str, text: str = "") -> None:
    """What a file says of where it comes from."""
    where = json.loads(words)
    digest = hashlib.sha256((WEIGHTS / "writer" / "model.safetensors").read_bytes()).hexdigest()
    assert where["headlight"] == VERSION and where["models"][0]["weights"] == f"SHA-256 {digest}"
    assert text in where["texts"][0]["text"] and parse_qs(urlsplit(where["address"]).query)["text"] == [where["texts"][0]["text"]]


def test_the_head_view_in_every_form(open_page, tmp_path):
    page = open_at(open_page, "Head")
    weights = models.load("writer").trace(TEXT).attention["self"][2]
    page.get_by_role("button", name="all", exact=True).click()
    page.get_by_role("button", name="H5", exact=True).click()  # off
    on = [head for head in range(8) if head != 5]
    unfold(page)
    caption = page.get_by_test_id("stCode").inner_text().replace("\n", " ")
    for part in ("writer", TEXT, "L2", "Head view"):
        assert part in caption
    words = seen(take(page, "SVG", tmp_path), TEXT)
    for token in models.load("writer").tokenize(TEXT):
        assert token.text.strip() in words
    assert "7 heads" in words, "as it is drawn now, with a head off"
    image = drawn(take(page, "PNG", tmp_path))
    assert image.filename.endswith("headlight-writer-L2-H0-and-H1-and-H2-and-H3-and-H4-and-H6-and-H7-Head-view.png")
    rows = pd.read_csv(take(page, "CSV", tmp_path), dtype=str, keep_default_na=False).to_dict("records")
    assert len(rows) == len(on) * np.tril(weights[0] + 1).astype(bool).sum()
    arrays = np.load(take(page, "NPZ", tmp_path), allow_pickle=False)
    for row in rows:
        weight = arrays["weights"][on.index(int(row["head"])), int(row["from_position"]), int(row["to_position"])]
        assert np.float32(row["weight"]) == weight, "the same numbers in both files"
    # The app reads on from a text with the same beginning, which is held to 1e-5 of reading it whole (here 1.1e-6).
    np.testing.assert_allclose(arrays["weights"], weights[on], atol=1e-5)
    assert json.loads(str(arrays["metadata"]))["texts"] == [TEXT]
    book = nbformat.read(take(page, "Notebook", tmp_path), as_version=4)
    nbformat.validate(book)
    assert f"model.trace({TEXT!r})" in book.cells[2].source and "def head_lines(" in book.cells[1].source
    html = take(page, "HTML", tmp_path)
    fold(page)
    no_error(page)
    page.context.set_offline(True)
    page.goto(html.as_uri())
    expect(page.locator(".caption")).to_contain_text(TEXT)
    data = base64.b64decode(re.search(r'const text = "([^"]+)"', html.read_text("utf-8"))[1])
    sent = packed(data)
    rows_of = [np.rint(255 * weights[:, i, : i + 1]) for i in range(len(weights[0]))]
    assert np.abs(sent.astype(int) - np.concatenate(rows_of, axis=1).ravel()).max() <= 1
    word = page.locator(".side.from .label:visible").nth(3).bounding_box()
    page.mouse.move(word["x"] + word["width"] / 2, word["y"] + word["height"] / 2)
    shown_numbers = page.locator(".side.to .label:visible .number").all_inner_texts()
    np.testing.assert_allclose(
        [float(number.strip("<\u00a0%") or 0) for number in shown_numbers[:4]], 100 * weights[on].mean(0)[3, :4], atol=0.6
    )


def packed(data: bytes) -> np.ndarray:
    """The only array of a view's data (see `viz.view.pack`)."""
    start = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:start])
    (array,) = header["arrays"].values()
    start += -start % 8 + array["offset"]
    return np.frombuffer(data[start : start + int(np.prod(array["shape"]))], dtype=array["dtype"])


def test_a_hostile_text_goes_with_the_picture_as_text(open_page, tmp_path):
    page = open_at(open_page, "Reading", NASTY)
    unfold(page)
    words = seen(take(page, "SVG", tmp_path), NASTY[:20])
    assert "onerror" in words.replace(" ", "") and "<0xF0>" in words
    assert drawn(take(page, "PNG", tmp_path)).text["Description"].count(NASTY) == 1
    table = pd.read_csv(take(page, "CSV", tmp_path), dtype=str, keep_default_na=False)
    cells = set(table["from_token"])
    assert not any(re.match(r"\s*[=+\-@]", cell) for cell in cells) and any(cell.startswith("'=") for cell in cells)
    book = nbformat.read(take(page, "Notebook", tmp_path), as_version=4)
    assert f"model.trace({NASTY!r})" in book.cells[2].source
    html = take(page, "HTML", tmp_path)
    page.goto(html.as_uri())
    expect(page.locator(".caption")).to_contain_text(NASTY)
    expect(page.locator(".sentence")).to_contain_text("looks most at")
    assert page.title() != "caught" and page.locator("img").count() == 0


def test_the_other_views_and_a_phone(open_page, tmp_path):
    page = open_at(open_page, "Query-key")
    expect(page.locator(".st-key-query-key-view")).to_be_visible(timeout=WAIT)
    unfold(page)
    assert "softmax" in seen(take(page, "SVG", tmp_path), TEXT)
    fold(page)
    page.get_by_text("Model", exact=True).last.click()
    expect(page.locator(".st-key-model-view canvas").first).to_be_visible(timeout=WAIT)
    unfold(page)
    drawn(take(page, "PNG", tmp_path))
    arrays = np.load(take(page, "NPZ", tmp_path), allow_pickle=False)
    assert arrays["weights"].shape[:2] == (6, 8)
    fold(page)
    page.get_by_role("radio", name="BertViz", exact=True).click()
    expect(page.locator("iframe")).to_be_visible(timeout=WAIT)  # what was unfolded before it is drawn would fold again
    unfold(page)
    assert page.get_by_role("button", name="PNG", exact=True).count() == 0
    page.goto(take(page, "HTML", tmp_path).as_uri())
    expect(page.locator("svg").first).to_be_visible()
    expect(page.get_by_text("Made with Headlight")).to_be_visible()


def test_from_a_dark_page_in_light_colours_on_white_and_on_nothing(open_page, tmp_path):
    page = open_at(open_page, "Heatmap", dark=True)
    plot = page.locator(".st-key-heatmap")
    expect(plot.locator(".js-plotly-plot .hm image")).to_be_attached(timeout=WAIT)
    unfold(page)
    before = plot.inner_html()
    file = take(page, "SVG", tmp_path)
    words, svg = seen(file, TEXT), file.read_text("utf-8")
    assert "from (query)" in words and "·farmer" in words and "L2 H3" in words
    assert ground_of(svg) == DARK["paper"] and on_scale(svg, DARK["accent"])
    choose(page, "white")
    expect(page.get_by_role("button", name="light", exact=True)).to_have_attribute("aria-pressed", "true")
    svg = take(page, "SVG", tmp_path).read_text("utf-8")
    assert ground_of(svg) == "#ffffff" and on_scale(svg, LIGHT["accent"])
    assert inks(svg) and max(map(lightness, inks(svg))) < 0.5, "all words are dark"
    choose(page, "transparent")
    assert drawn(take(page, "PNG", tmp_path)).convert("RGBA").getpixel((0, 0))[3] == 0
    assert plot.inner_html() == before
    fold(page)
    page.get_by_text("Head", exact=True).last.click()
    canvas = page.locator(".st-key-head-view canvas").first
    expect(canvas).to_be_visible(timeout=WAIT)
    unfold(page)
    expect(page.get_by_role("button", name="transparent", exact=True)).to_have_attribute("aria-pressed", "true")
    before = canvas.evaluate("node => node.toDataURL()")
    svg = take(page, "SVG", tmp_path).read_text("utf-8")
    assert ground_of(svg) is None and max(map(lightness, inks(svg))) < 0.6
    assert canvas.evaluate("node => node.toDataURL()") == before
    choose(page, "dark")
    svg = take(page, "SVG", tmp_path).read_text("utf-8")
    assert ground_of(svg) is None and min(map(lightness, inks(svg))) > 0.4
    no_error(page)


def choose(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_role("button", name=name, exact=True)).to_have_attribute("aria-pressed", "true")


def inks(svg: str) -> list[str]:
    """The colour of each text that has words, its own or that of what it stands in."""
    results = []

    def visit(node: ET.Element, fill: str) -> None:
        fill = node.get("fill", fill)
        if node.tag == f"{{{NAMESPACE}}}text" and "".join(node.itertext()).strip():
            results.append(fill)
        for child in node:
            visit(child, fill)

    visit(ET.fromstring(svg), "#000000")
    return results


def lightness(ink: str) -> float:
    return sum(bytes.fromhex(ink[1:])) / 3 / 255


def on_scale(svg: str, accent: str) -> bool:
    """Whether each pixel of the heatmap stands on the scale from grey to that accent, as deep as it is opaque."""
    (href,) = re.findall(r'href="data:image/png;base64,([^"]+)"', svg)
    cells = np.asarray(Image.open(io.BytesIO(base64.b64decode(href))).convert("RGBA")).reshape(-1, 4).astype(float)
    cells = cells[cells[:, 3] > 40]
    over = (cells[:, 3:] / 255 - GROUND[3]) / (1 - GROUND[3])
    part = over / (over + GROUND[3] * (1 - over))
    wanted = np.array(GROUND[:3]) * (1 - part) + np.array(list(bytes.fromhex(accent[1:]))) * part
    return cells[:, 3].max() > 200 and np.abs(wanted - cells[:, :3]).max() < 20  # Plotly goes straight from step to step


def test_by_keyboard_on_a_phone_in_the_dark(open_page, tmp_path):
    page = open_at(open_page, "Reading", level="beginner", width=390, height=800, dark=True)
    button(page).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="HTML", exact=True)).to_be_visible()
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("(one => (one.shadowRoot?.activeElement ?? one).textContent)(document.activeElement)") == "SVG":
            break
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.endswith(".svg")
    for node in ("html", "[data-testid=stPopoverBody]"):
        assert page.locator(node).evaluate("node => Math.max(node.scrollWidth, node.getBoundingClientRect().right) <= innerWidth")
    violations = Axe().run(page).response["violations"]
    assert not [
        (violation["id"], [each["html"] for each in violation["nodes"]])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
    ]
    fold(page)
    expect(button(page)).to_be_focused()
    no_error(page)


def test_closed_it_costs_a_key_press_nothing_but_itself(open_page):
    """While it is closed there is nothing in it, and typing does not open or fill it."""
    page = open_at(open_page, "Reading")
    box(page).click()
    page.keyboard.press("End")
    page.keyboard.type(" and", delay=30)
    expect(page.locator(".st-key-reading-view .sentence")).to_contain_text("“and”")
    assert page.locator("[data-testid=stDownloadButton], .st-key-take-drawn-reading-view").count() == 0


def test_it_opens_upwards_where_there_is_no_room_below(open_page):
    page = open_page("/overview", height=800)
    button(page).click(timeout=WAIT)
    expect(page.get_by_role("button", name="HTML", exact=True)).to_be_in_viewport(ratio=1)
    body = page.get_by_test_id("stPopoverBody").bounding_box()
    assert body["y"] + body["height"] <= button(page).bounding_box()["y"] and body["height"] > 300
