"""What the browser writes of a picture, held to what it shows: views that stand alone, as SVG and as PNG."""

from __future__ import annotations

import base64
import io
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image, ImageFilter
from playwright.sync_api import expect

import viz
from tests.viz.views.test_stations_view import lane as stations_lane
from viz import Card, Part, View, modules
from viz.palette import DARK, LIGHT
from viz.views.architecture import Box, architecture
from viz.views.grid_view.layers import head_grid
from viz.views.pieces_view import Box as Piece
from viz.views.pieces_view import Row
from viz.views.prediction_bars import value_bars
from viz.views.stations_view import Outcome, stations_view
from viz.views.sum_view import Product
from viz.views.versions import versions
from viz.views.way_view import Stop

WORDS = ["<|start|>", "The", " dog", " ran", " into", " the", " forest", ",", " שלום", " 🐕", "\n", " <0xF0>"]
NAMESPACE = "http://www.w3.org/2000/svg"
NASTY = "<img src=x onerror=\"document.title='caught'\">]]></script>&amp;\x00\ud800\ufffe"
VIEW_FOLDERS = Path(viz.__file__).parent / "views"
SCRIPTS = modules.joined(["views/export/walk.js", "views/export/png.js"])
THEMES = json.dumps({"light": LIGHT, "dark": DARK})
TAKE = f"""async ([selector, kind, wanted]) => {{
  {SCRIPTS}
  const made = {{ ...modules["views/export/walk.js"], ...modules["views/export/png.js"], ...modules["views/export/look.js"] }};
  const state = () => document.body.innerHTML + [...document.querySelectorAll("canvas")].map((one) => one.toDataURL());
  const before = state();
  const root = document.querySelector(selector);
  const look = await made.lookOf(root, {{ ...made.AS_IT_IS, ...wanted }}, {THEMES});
  const picture = made.pictureOf(root, {{ title: "A <title>", words: "Said — “so” 🐕", look, heading: wanted.heading }});
  if (kind === "svg") return picture.svg;
  if (kind === "both") return JSON.stringify([before, state()]);
  if (kind === "tools") return made.TOOLS;
  const blob = await made.pngOf(picture, {{ Title: "A <title>", Description: "Said — “so” 🐕" }});
  return btoa(Array.from(new Uint8Array(await blob.arrayBuffer()), (b) => String.fromCharCode(b)).join(""));
}}"""


def tokens(texts: list[str] = WORDS) -> list[SimpleNamespace]:
    return [SimpleNamespace(text=t, special=t.startswith("<|"), fragment=t == " <0xF0>", segment=0) for t in texts]


def weights(heads: int, count: int) -> np.ndarray:
    scores = np.random.default_rng(1).normal(0, 3, (heads, count, count))
    scores[:, np.triu(np.ones((count, count), dtype=bool), 1)] = -np.inf
    parts = np.exp(scores - scores.max(-1, keepdims=True))
    return (parts / parts.sum(-1, keepdims=True)).astype(np.float32)


def many_keys(texts: list[str] = WORDS) -> View:
    made = np.random.default_rng(2).normal(size=(len(texts), 16)).astype(np.float32)
    q, raw = made[3], made @ made[3]
    each = np.exp(raw / 4) / np.exp(raw / 4).sum()
    keys, lengths = tokens(texts), np.ones(len(texts))
    return viz.query_key_view(keys[3], keys, q, made, raw, 0.25, raw / 4, each, v_norm=lengths, position=3, title="L1 H1")


POINTS = np.random.default_rng(3).normal(size=(3, 5, 2)).astype(np.float32)
VIEWS = {
    "head": lambda: viz.head_view(tokens(), tokens(), weights(4, 12), layer=2),
    "head-token": lambda: viz.head_view(tokens(), tokens(), weights(4, 12), layer=2, chosen=("from", 6)),
    "reading": lambda: viz.reading_view(tokens(), weights(1, 12)[0], toggle=True),
    "reading-heads": lambda: viz.reading_view(tokens(), weights(4, 12)),
    "reading-number": lambda: viz.reading_view(tokens(), None, quantity=np.arange(12.0), unit="bits"),
    "model": lambda: viz.model_view(
        weights(12, 12).reshape(3, 4, 12, 12), chosen=(1, 2), values=np.arange(12.0).reshape(3, 4), unit="nats"
    ),
    "query-key": many_keys,
    "space": lambda: viz.space_view(WORDS[1:6], POINTS, values=list("aabbc")),
}


def take(page, kind: str, selector: str = ".hl", **wanted: str) -> bytes:
    got = page.evaluate(TAKE, [selector, kind, wanted])
    return base64.b64decode(got) if kind == "png" else got.encode()


def grey(image: Image.Image) -> np.ndarray:
    return np.asarray(image.convert("RGB").filter(ImageFilter.GaussianBlur(2)), dtype=float)


def compare(page) -> None:
    """The PNG, made small again, is what a screenshot of the same place shows, but for the last pixel of an edge."""
    page.add_style_tag(content=f"{page.evaluate(TAKE, ['.hl', 'tools', {}])} {{ display: none !important }}")
    image = Image.open(io.BytesIO(take(page, "png")))
    x, y, width, height = map(float, ET.fromstring(take(page, "svg")).get("viewBox").split())
    assert image.size == (2 * width, 2 * height)
    page.set_viewport_size({"width": page.viewport_size["width"], "height": int(y + height) + 20})
    seen = Image.open(io.BytesIO(page.screenshot(clip={"x": x, "y": y, "width": width, "height": height})))
    off = np.abs(grey(seen) - grey(image.resize(seen.size, Image.Resampling.BOX))).max(-1)
    assert grey(seen).std() > 4, "or there is nothing to compare"
    assert (off > 42).sum() < 9, f"{(off > 42).sum()} pixels differ"


def test_a_heading_is_written_above_the_picture(draw):
    page = draw(viz.reading_view(tokens(), weights(1, 12)[0]), width=900)
    plain, headed = (ET.fromstring(take(page, "svg", **more)) for more in ({}, {"heading": "Where it looks in writer"}))
    (line,) = [node for node in headed.iter(f"{{{NAMESPACE}}}text") if node.text == "Where it looks in writer"]
    (x, y, width, height), (_, top, least, bare) = ([float(n) for n in root.get("viewBox").split()] for root in (headed, plain))
    assert height > bare and width >= least and y < top
    assert x < float(line.get("x")) and y < float(line.get("y")) < top + 12, "above what was there"
    assert all(node.text != "Where it looks in writer" for node in plain.iter())


@pytest.fixture
def still(draw):
    """A view drawn without fading."""

    def drawn(view: View, **kwargs):
        page = draw(view, width=900, height=1000, **kwargs)
        page.emulate_media(reduced_motion="reduce")
        return page

    return drawn


HEAD_TOOLS = [
    "2\u00a0%",
    "Point at a token to see only its own.",
    "a token’s strongest",
    "all",
    *["columns", "each head", "lines", "max", "mean", "ribbons", "rows", "weights from"],
]
# Of every kind that a page offers as a picture at least one view, and what only works each and is in no picture.
LAYERS = np.linspace(0, 1, 12).reshape(3, 4)


def stations() -> View:
    outcomes = [Outcome(f" word{i}", 0.4 / (i + 1), id=i) for i in range(3)]
    return stations_view([stations_lane(["The", " cat", " sleeps", "."])], 3, outcomes, outcomes, others="all others")


def patches(**options) -> View:
    """An image of 8 × 8 pixels in 16 patches."""
    image = np.linspace(0, 255, 8 * 8 * 3).astype(np.uint8).reshape(8, 8, 3)
    places = [
        SimpleNamespace(text="", special=False, row=i, column=j, box=(2 * j, 2 * i, 2 * j + 2, 2 * i + 2), covered=i == j)
        for i in range(4)
        for j in range(4)
    ]
    return viz.patch_view(image, [SimpleNamespace(text="[CLS]", special=True), *places], **options)


ALL_KINDS: dict[str, tuple[Callable[[], View], list[str]]] = {
    "stations": (stations, ["Play"]),
    "head": (VIEWS["head"], HEAD_TOOLS),
    "reading": (VIEWS["reading"], ["looks at", "is looked at by"]),
    "reading-heads": (VIEWS["reading-heads"], []),
    "reading-number": (VIEWS["reading-number"], []),
    "model": (VIEWS["model"], []),
    "query-key": (VIEWS["query-key"], ["by weight", "dimensions by size", "in order", "keys in order"]),
    "space": (VIEWS["space"], ["Play", "Follow", "Trails", "Labels", "−", "+", "Reset", "PNG"]),
    "bars": (lambda: viz.prediction_bars([" forest", " field", NASTY[:12]], [0.4, 0.1, 0.05], [7, 8, 9], [2.0, 0.6, -0.1]), []),
    "bars-beginner": (lambda: viz.prediction_bars([" a", " b"], [0.4, 0.001], whole=True), []),
    "bars-before": (lambda: viz.prediction_bars("ab", [0.9, 0.1], before=[0.5, 0.5], struck=[False, True], marked=0), []),
    "bars-values": (lambda: value_bars(["up", "down"], [1.5, -2.0], ("part", "adds"), still=True), []),
    "chips": (lambda: viz.token_chips([SimpleNamespace(**vars(token), id=i) for i, token in enumerate(tokens()[:6])]), []),
    "grid": (lambda: head_grid(LAYERS, unit="%", scale=(0, 1), label="Share"), []),
    "grid-film": (lambda: viz.grid_view(np.eye(3)[:2, None], ["a"], "xyz", frames=["one", "two"]), ["Play"]),
    "architecture": (lambda: architecture([("", [Box("Embedding", "[5, 64]", "a vector"), Box("Norm", "[5, 64]")])]), []),
    "compare": (lambda: viz.compare_view(tokens()[:3], ["flow"], np.full((2, 1, 3), 0.2), ["one", "two"]), ["Play"]),
    "patches": (lambda: patches(weights=weights(1, 17)[0]), []),
    "patches-numbers": (lambda: patches(values=np.linspace(-1, 1, 17)), []),
    "order": (lambda: viz.order_view(["one", "two", "three"], (2, 0, 1), changed=[1]), []),
    "pieces": (
        lambda: viz.pieces_view(2, [Row([Piece("a", 0, 1), Piece("b", 1, 2)])], ["one", "two"], ["First.", "Then."]),
        ["Play"],
    ),
    "sum": (lambda: viz.sum_view("a number", 2.0, [Product("x", 2.0, 1.0, 2.0, (True, False))], trail=list("abcdefghi")), []),
    "versions": (lambda: versions(["as it is", "steered"], [["The", " dog"], ["The", " cat"]]), []),
    "way": (lambda: viz.way_view([Stop("a", "Embedding", "a vector", "[5, 64]", LAYERS), Stop("b", "Norm")], "a"), []),
    "way-strip": (lambda: viz.way_view([Stop("a", "Ids", values=LAYERS), Stop("b", "Norm")], "b", strip=True), []),
}
# What a page has beside its pictures, and the board, whose parts are pictures by themselves.
NO_PICTURES = {
    "board",
    "change_list",
    "dials",
    "export",
    "file_picker",
    "overview",
    "picture_choice",
    "room",
    "time_slider",
}
ON_SCREEN = """() => {
  const words = [];
  const walk = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      const range = document.createRange();
      range.selectNodeContents(node);
      if ([...range.getClientRects()].some(({ width }) => width > 1)) words.push(node.textContent);
    } else if (node.checkVisibility({ visibilityProperty: true, opacityProperty: true })) {
      const { clipPath, overflow } = getComputedStyle(node);
      if (clipPath !== "none" || /SELECT|DETAILS/.test(node.tagName)) return; // for a screen reader, or folded
      if (overflow === "hidden" && node.clientWidth <= 1) return;
      for (const child of (node.shadowRoot ?? node).childNodes) walk(child);
    }
  };
  walk(document.querySelector(".hl"));
  return words;
}"""


def missing(nodes: list[str], svg: bytes) -> list[str]:
    """The texts on screen that a picture lacks, spaces aside. A text of the picture stands for one on screen alone."""

    def bare(words: str) -> str:
        return re.sub(r"\s", "", words)

    rest, lacking = bare("\x00".join(words_of(svg))), []
    for words in sorted(filter(bare, nodes), key=len, reverse=True):
        pattern = "\x00?".join(map(re.escape, bare(words)))  # a text may take several lines
        rest, times = re.subn(pattern, "\x01", rest, count=1)
        if not times:
            lacking.append(words.strip())
    return sorted(lacking)


@pytest.mark.parametrize(("name", "dark"), [(name, i % 2 == 0) for i, name in enumerate(ALL_KINDS)])
def test_a_picture_says_and_shows_what_the_page_does(still, name, dark):
    view, tools = ALL_KINDS[name]
    page = still(view(), dark=dark)
    assert missing(page.evaluate(ON_SCREEN), take(page, "svg")) == sorted(tools)
    if name != "bars-before":  # its dashes begin at another place
        compare(page)


def test_every_kind_of_view_is_held_to_its_picture_or_is_none():
    kinds = {folder.name for folder in VIEW_FOLDERS.iterdir() if (folder / "view.js").exists()}
    assert {view().kind for view, _ in ALL_KINDS.values()} == kinds - NO_PICTURES


@pytest.mark.parametrize("count", [5, 12], ids=["level", "upright"])
def test_the_head_view_in_rows_with_ribbons(still, count):
    page = still(viz.head_view(tokens()[:count], tokens()[:count], weights(4, count), layer=2))
    page.get_by_role("button", name="rows").click()
    page.get_by_role("button", name="ribbons").click()
    page.mouse.move(1, 1)
    compare(page)


def test_what_is_cut_off_on_the_page_is_cut_off(still):
    long = ["a", "word" * 40, " of many" * 30, "שלום" * 30]
    page = still(viz.head_view(tokens(long), tokens(long), weights(2, 4), layer=0))
    compare(page)
    words = [element.text for element in ET.fromstring(take(page, "svg")).iter(f"{{{NAMESPACE}}}text")]
    assert sum("…" in (word or "") for word in words) >= 4
    rows = [f" key{i}" for i in range(40)]
    page = still(many_keys(rows))
    words = [element.text for element in ET.fromstring(take(page, "svg")).iter(f"{{{NAMESPACE}}}text")]
    assert len([word for word in words if (word or "").startswith("key")]) < 40, "rows that are scrolled out of sight stay there"


def test_what_a_canvas_cuts_off_is_cut_off_and_buttons_stay_behind(still):
    points = np.random.default_rng(3).normal(size=(3, 5, 3)).astype(np.float32)
    page = still(viz.space_view(WORDS[1:6], points, values=list("aabbc")))
    for _ in range(4):
        page.get_by_role("button", name="Larger").click()
    expect(page.get_by_role("button", name="Trails")).to_be_visible()
    svg = take(page, "svg")
    assert not {"Trails", "Labels"} & set(words_of(svg))
    image = np.asarray(Image.open(io.BytesIO(take(page, "png", ground="none"))))
    scene, top = page.locator(".scene").bounding_box(), float(ET.fromstring(svg).get("viewBox").split()[1])
    end = int(2 * (scene["y"] + scene["height"] - top))
    assert image[end - 8 : end, :, 3].any() and not image[end + 2 : end + 10, :, 3].any()


def test_the_legend_of_a_picture_names_the_heads_that_are_on(still):
    page = still(VIEWS["head"]())
    page.get_by_role("button", name="all", exact=True).click()
    page.get_by_role("button", name="H1", exact=True).click()  # off
    assert [word for word in words_of(take(page, "svg")) if re.fullmatch(r"H\d", word)] == ["H0", "H2", "H3"]


def words_of(svg: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in ET.fromstring(svg).iter(f"{{{NAMESPACE}}}text")]


@pytest.mark.parametrize("name", ["head", "reading-heads", "query-key"])
def test_an_svg_is_text_and_lines_that_stand_alone(still, name):
    page = still(VIEWS[name]())
    text = take(page, "svg").decode()
    svg = ET.fromstring(text)
    words = " ".join("".join(element.itertext()) for element in svg.iter(f"{{{NAMESPACE}}}text"))
    for word in ("dog", "forest", "שלום", "🐕", "0xF0"):
        assert word in words
    assert svg[0].text == "A <title>" and svg[1].text == "Said — “so” 🐕"
    assert not list(svg.iter(f"{{{NAMESPACE}}}image")), "lines and cells are lines and cells"
    alone(text)
    if name == "reading-heads":
        numbers = re.findall(r"\d+\s%", page.locator(".below").inner_text())
        assert numbers and all(number.replace("\u00a0", " ") in words for number in numbers)
    if name == "head":
        lines = int(page.locator(".sentence").inner_text().split(": ")[1].split(" lines")[0])
        drawn = [element.get("d") for element in svg.iter(f"{{{NAMESPACE}}}path") if "C" in element.get("d")]
        assert sum(d.count("M") for d in drawn) == lines
        assert "Point at" not in words


def alone(svg: str) -> None:
    """Nothing in it asks for another file."""
    for place in re.findall(r"""(?:href|src)=["']([^"']*)|url\(["']?([^)"']*)""", svg):
        assert re.match(r"#|data:image/", "".join(place)), place
    assert "<script" not in svg and "@import" not in svg and "<foreignObject" not in svg


def test_thumbnails_are_cells_of_their_own_size(still):
    page = still(VIEWS["model"]())
    svg = ET.fromstring(take(page, "svg"))
    images = [element for element in svg.iter(f"{{{NAMESPACE}}}image")]
    assert len(images) == 12
    for head, image in enumerate(images):
        cells = np.asarray(Image.open(io.BytesIO(base64.b64decode(image.get("href").split(",")[1]))).convert("RGBA"))[..., 3]
        given = np.rint(255 * weights(12, 12).reshape(12, 12, 12)[head])
        assert cells.shape == (12, 12) and np.abs(cells / 255 - (given / 255) ** 0.7).max() < 0.005


def test_hostile_text_is_written_as_text(still):
    page = still(viz.reading_view(tokens(["a", NASTY, " ok"]), weights(1, 3)[0]))
    text = take(page, "svg").decode()
    svg = ET.fromstring(text)
    assert "NUL" in "".join(svg.itertext()), "what CSS writes is written too"
    assert "onerror" in "".join(svg.itertext()) and "]]></script>&amp;" in "".join(svg.itertext())
    alone(text)
    compare(page)
    assert page.title() != "caught"


@pytest.mark.parametrize(
    ("name", "wanted"), [(name, ({}, {"colours": "dark", "ground": "none"})[i % 2]) for i, name in enumerate(VIEWS)]
)
def test_taking_leaves_the_page_as_it_was(still, name, wanted):
    before, after = json.loads(take(still(VIEWS[name]()), "both", **wanted))
    assert after == before


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_picture_stands_on_the_page_on_white_or_on_nothing(still, dark):
    page = still(VIEWS["head"](), dark=dark)
    for ground, fill in {"page": (DARK if dark else LIGHT)["paper"], "white": "#ffffff", "none": None}.items():
        svg = take(page, "svg", ground=ground).decode()
        assert ground_of(svg) == fill
        image = Image.open(io.BytesIO(take(page, "png", ground=ground)))
        corner = image.convert("RGBA").getpixel((0, 0))
        assert corner == ((*bytes.fromhex(fill[1:]), 255) if fill else (0, 0, 0, 0))


BOXES = architecture([("", [Box("Embedding", "[5, 64]", "a vector for each token"), Box("Unembedding", "[5, 256]")])])


@pytest.mark.parametrize("made", [VIEWS["space"], lambda: BOXES], ids=["a panel", "boxes"])
@pytest.mark.parametrize("dark", [False, True], ids=["on light", "on dark"])
@pytest.mark.parametrize("colours", ["screen", "dark"])
def test_on_nothing_no_ground_stands_behind_what_is_drawn(still, made, dark, colours):
    page = still(made(), dark=dark)
    paper = (DARK if dark or colours == "dark" else LIGHT)["paper"]
    assert take(page, "svg", colours=colours).decode().count(f'fill="{paper}"') > 1
    assert f'fill="{paper}"' not in take(page, "svg", colours=colours, ground="none").decode()


def test_arrows_have_their_heads(still):
    compare(still(architecture([("", [Box(name) for name in "abcdefgh"])])))


def ground_of(svg: str) -> str | None:
    """The colour of what covers all of a picture."""
    root = ET.fromstring(svg)
    place = root.get("viewBox").split()
    rects = [
        element
        for element in root
        if element.tag == f"{{{NAMESPACE}}}rect" and [element.get(n) for n in ("x", "y", "width", "height")] == place
    ]
    return rects[0].get("fill") if rects else None


GRID = head_grid(np.linspace(0, 1, 12).reshape(3, 4), unit="%", scale=(0, 1), label="Share")
MORE = VIEWS | {
    "grid": lambda: GRID,
    "board": lambda: viz.board([Card([Part("one", GRID, "Words.")], "A card", 1)]),
}


@pytest.mark.parametrize(("name", "dark"), [(name, i % 2 == 0) for i, name in enumerate(MORE)])
def test_chosen_colours_are_those_of_a_page_that_has_them(still, name, dark):
    selector = ".slot" if name == "board" else ".hl"
    chosen = take(still(MORE[name](), dark=dark), "svg", selector, colours="light" if dark else "dark")
    assert chosen.decode() == take(still(MORE[name](), dark=not dark), "svg", selector).decode()


def test_a_number_stands_at_its_word_although_what_is_above_them_is_left_out(draw):
    page = draw(viz.reading_view(tokens([" cat", " mat"]), np.array([[1.0, 0.0], [0.9, 0.1]], dtype=np.float32), 1, toggle=True))
    expect(page.locator(".below b").first).to_have_text("90 %")
    texts = list(ET.fromstring(take(page, "svg")).iter(f"{{{NAMESPACE}}}text"))
    (word, *_), (number, *_) = ([text for text in texts if text.text.strip() == content] for content in ("cat", "90 %"))
    assert 0 < float(number.get("y")) - float(word.get("y")) < 30
    assert abs(float(number.get("x")) - float(word.get("x"))) < 30
