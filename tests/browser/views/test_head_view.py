"""The head view in a real browser: lines and numbers, heads, options that last, the keyboard, and any length of text."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from viz import View
from viz.views.head_view import head_view

WORDS = ["The", " dog", " ran", " into", " the"]
NASTY = "<img src=x onerror=\"document.title='caught'\"></script>"


def tokens(texts: list[str], special: int = -1, segments: list[int] | None = None) -> list[SimpleNamespace]:
    segments = segments or [0] * len(texts)
    return [SimpleNamespace(text=t, special=i == special, fragment=False, segment=segments[i]) for i, t in enumerate(texts)]


def previous(count: int, share: float = 0.8) -> np.ndarray:
    """A head in which each token looks at the one before it, and at itself with the rest."""
    weights = (1 - share) * np.eye(count) + share * np.eye(count, k=-1)
    weights[0, 0] = 1
    return weights


def two_heads(words: list[str] = WORDS, **options) -> View:
    """H0 looks at the token before (80 %), H1 at itself."""
    count = len(words)
    return head_view(tokens(words), tokens(words), np.stack([previous(count), np.eye(count)]), **options)


def softmax(heads: int, queries: int, keys: int, causal: bool = True) -> np.ndarray:
    scores = np.random.default_rng(0).normal(0, 3, (heads, queries, keys)).astype(np.float32)
    if causal:
        scores[:, np.triu(np.ones((queries, keys), dtype=bool), 1)] = -np.inf
    parts = np.exp(scores - scores.max(-1, keepdims=True))
    return parts / parts.sum(-1, keepdims=True)


def side(page: Page, name: str) -> Locator:
    return page.get_by_role("slider", name=name)


def labels(page: Page, name: str) -> Locator:
    return page.locator(f".side.{name} .label:visible")


def hover(page: Page, name: str, word: str) -> None:
    box = labels(page, name).filter(has_text=word).first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def numbers(page: Page, name: str) -> dict[str, str]:
    script = "all => all.map((one) => [one.querySelector('.word').textContent, one.querySelector('.number').textContent])"
    return {word: number for word, number in labels(page, name).evaluate_all(script) if number}


def away(page: Page) -> None:
    page.mouse.move(5, 780)


def head(page: Page, number: int) -> Locator:
    return page.get_by_role("button", name=f"H{number}", exact=True)


def sentence(page: Page) -> Locator:
    return page.locator(".sentence")


PIXEL = """([canvas, y]) => {  // half way across, the most opaque pixel within two of this height
  const node = document.querySelector("canvas." + canvas), ratio = node.width / node.getBoundingClientRect().width;
  const at = Math.round(y * ratio), x = Math.round(node.width / 2);
  const { data } = node.getContext("2d").getImageData(x, Math.max(0, at - 2), 1, 5);
  let best = 0;
  for (let i = 0; i < 5; i++) if (data[4 * i + 3] > data[4 * best + 3]) best = i;
  return [...data.slice(4 * best, 4 * best + 4)]; }"""


def pixel(page: Page, word: int, canvas: str = "all") -> list[int]:
    """What is drawn half way between a token and itself."""
    box, stage = labels(page, "from").nth(word).bounding_box(), page.locator(".stage").bounding_box()
    return page.evaluate(PIXEL, [canvas, box["y"] + box["height"] / 2 - stage["y"]])


def test_pointing_at_a_token_shows_its_weights_in_numbers(draw):
    page = draw(two_heads(layer=5))
    expect(labels(page, "from").locator(".word")).to_have_text(["The", "·dog", "·ran", "·into", "·the"])
    expect(sentence(page)).to_contain_text("L5, 2 heads: 14 lines")
    hover(page, "from", "into")
    expect(sentence(page)).to_contain_text("“into” (3) looks most at itself: 60 % on average of 2 heads, 100 % in H1")
    assert numbers(page, "to") == {"·ran": "40\u00a0%", "·into": "60\u00a0%"}
    assert numbers(page, "from") == {}
    expect(page.locator(".side.to .unseen .word")).to_have_text(["·the"])
    away(page)
    expect(sentence(page)).to_contain_text("14 lines")
    assert numbers(page, "to") == {}
    hover(page, "to", "ran")
    expect(sentence(page)).to_contain_text("“ran” (2) is looked at most by itself: 60 %")
    assert numbers(page, "from") == {"·ran": "60\u00a0%", "·into": "40\u00a0%"}


@pytest.mark.parametrize(("dark", "least", "most"), [(False, 0.2, 0.42), (True, 0.42, 0.7)], ids=["light", "dark"])
def test_a_line_has_its_head_s_colour_and_is_as_opaque_as_its_weight(draw, dark, least, most):
    page = draw(two_heads(heads=[1]), dark=dark)
    swatch = head(page, 1).evaluate("node => getComputedStyle(node).borderLeftColor.match(/\\d+/g).map(Number)")
    *colour, opacity = pixel(page, 2)
    assert np.allclose(colour, swatch, atol=3) and opacity > 245
    head(page, 0).click()
    head(page, 1).click()
    away(page)
    *_, faint = pixel(page, 2)
    assert 255 * least < faint < 255 * most  # 20 %, lifted as everywhere (`shade`), and more on a dark page
    page.locator("input[type=range]").fill("30")
    page.wait_for_function("document.querySelector('.sentence').textContent.includes('30\u00a0%')")
    assert pixel(page, 2)[3] == 0
    assert pixel(page, 0)[3] > 245


def test_only_the_lines_of_the_token_one_points_at_are_seen(draw):
    page = draw(two_heads(heads=[1]))
    hover(page, "from", "ran")
    expect(page.locator("canvas.all")).to_have_css("opacity", "0")
    expect(page.locator("canvas.focus")).to_have_css("opacity", "1")
    assert pixel(page, 2, "focus")[3] > 245
    assert pixel(page, 1, "focus")[3] == 0


def test_heads_go_on_and_off_alone_and_all(draw):
    words = ["a", " b", " c"]
    page = draw(head_view(tokens(words), tokens(words), np.stack([np.eye(3)] * 4)))
    pressed = "all => all.map((one) => one.getAttribute('aria-pressed') === 'true')"
    chips = page.locator(".head")
    head(page, 1).click()
    assert chips.evaluate_all(pressed) == [True, False, True, True]
    head(page, 2).dblclick()
    assert chips.evaluate_all(pressed) == [False, False, True, False]
    head(page, 2).dblclick()
    assert chips.evaluate_all(pressed) == [True] * 4
    head(page, 2).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("s")
    assert chips.evaluate_all(pressed) == [False, False, False, True]
    page.keyboard.press("Space")
    expect(sentence(page)).to_contain_text("No head is on")
    page.get_by_role("button", name="all", exact=True).click()
    assert chips.evaluate_all(pressed) == [True] * 4
    assert page.evaluate("told.map((one) => one.value)").count({"heads": [0, 2, 3]}) >= 1
    assert page.evaluate("told.at(-1).value") == {"heads": [0, 1, 2, 3]}
    assert page.evaluate("told.at(-2).value") == {"heads": []}
    assert chips.evaluate_all("all => all.filter((one) => one.tabIndex === 0).length") == 1


def test_all_heads_at_once_show_their_strong_lines_until_the_reader_chooses_a_limit(draw):
    page = draw(two_heads(heads=[0]))
    limit = page.get_by_role("slider", name=re.compile("weights from"))
    expect(limit).to_have_value("2")
    page.get_by_role("button", name="all", exact=True).click()
    expect(limit).to_have_value("25")
    expect(sentence(page)).to_contain_text("of 25\u00a0% and more")
    limit.fill("5")
    page.get_by_role("button", name="all", exact=True).click()
    expect(limit).to_have_value("5")


def test_heads_are_shown_each_or_as_their_mean_or_maximum(draw):
    page = draw(two_heads())
    page.get_by_role("button", name="mean", exact=True).click()
    expect(sentence(page)).to_contain_text("the mean of 2 heads: 9 lines")
    hover(page, "from", "into")
    assert numbers(page, "to") == {"·ran": "40\u00a0%", "·into": "60\u00a0%"}
    page.get_by_role("button", name="max", exact=True).click()
    hover(page, "from", "dog")
    assert numbers(page, "to") == {"The": "80\u00a0%", "·dog": "100\u00a0%"}
    expect(sentence(page)).to_contain_text("(H1)")


def test_only_a_token_s_strongest_can_be_kept(draw):
    weights = np.array([[[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]]])
    page = draw(head_view(tokens(["a", " b", " c"]), tokens(["a", " b", " c"]), weights))
    expect(sentence(page)).to_contain_text("9 lines")
    page.get_by_label("a token’s strongest").select_option("1")
    expect(sentence(page)).to_contain_text("3 lines")
    assert [pixel(page, i)[3] > 100 for i in range(3)] == [True] * 3
    page.get_by_label("a token’s strongest").select_option("2")
    expect(sentence(page)).to_contain_text("6 lines")


def test_pairs_of_sentences_can_be_filtered(draw, redraw):
    pair = tokens(["a", " b", " c"], segments=[0, 0, 1])
    page = draw(head_view(pair, pair, np.full((1, 3, 3), 1 / 3)))
    which = page.get_by_label("sentences")
    for choice, lines in {"A to A": 4, "A to B": 2, "B to A": 2, "B to B": 1, "all": 9}.items():
        which.select_option(choice)
        expect(sentence(page)).to_contain_text(f": {lines} line")
    expect(page.locator(".side.from .bracket")).to_have_text(["A", "B"])
    redraw(page, two_heads())
    expect(which).to_be_hidden()
    expect(page.locator(".bracket")).to_have_count(0)


def test_what_the_reader_chose_lasts_when_new_data_comes(draw, redraw):
    page = draw(two_heads(heads=[0, 1]))
    page.get_by_role("button", name="rows", exact=True).click()
    page.get_by_role("button", name="ribbons", exact=True).click()
    page.get_by_role("button", name="max", exact=True).click()
    page.locator("input[type=range]").fill("30")
    head(page, 1).click()
    redraw(page, two_heads([*WORDS, " all"], heads=[0, 1]))
    for name in ("rows", "ribbons", "max"):
        expect(page.get_by_role("button", name=name, exact=True)).to_have_attribute("aria-pressed", "true")
    expect(page.locator("input[type=range]")).to_have_value("30")
    expect(head(page, 1)).to_have_attribute("aria-pressed", "false")
    expect(labels(page, "from").locator(".word")).to_have_text(["The", "·dog", "·ran", "·into", "·the", "·all"])


def test_a_late_echo_does_not_undo_the_choice_after_it(draw, redraw):
    eyes = np.stack([np.eye(2)] * 3)
    page = draw(head_view(tokens(["a", "b"]), tokens(["a", "b"]), eyes))
    head(page, 0).click()
    head(page, 1).click()
    redraw(page, head_view(tokens(["a", "b"]), tokens(["a", "b"]), eyes, heads=[1, 2]))  # the app's answer to the first press
    expect(head(page, 1)).to_have_attribute("aria-pressed", "false")
    redraw(page, head_view(tokens(["a", "b"]), tokens(["a", "b"]), eyes, heads=[2]))
    expect(head(page, 2)).to_have_attribute("aria-pressed", "true")
    redraw(page, head_view(tokens(["a", "b"]), tokens(["a", "b"]), eyes, heads=[0]))  # the app's own
    expect(head(page, 0)).to_have_attribute("aria-pressed", "true")
    expect(head(page, 2)).to_have_attribute("aria-pressed", "false")


def test_a_click_holds_a_token_and_tells_it(draw):
    page = draw(two_heads())
    labels(page, "to").nth(2).click()
    away(page)
    expect(sentence(page)).to_contain_text("“ran” (2) is looked at most by itself")
    hover(page, "from", "dog")
    expect(sentence(page)).to_contain_text("“dog” (1) looks most")
    away(page)
    expect(sentence(page)).to_contain_text("“ran” (2) is looked at")
    labels(page, "to").nth(2).click()
    away(page)
    expect(sentence(page)).to_contain_text("14 lines")
    assert page.evaluate("told.map((one) => one.value)") == [{"token": ["to", 2]}, {"token": None}]


def test_everything_can_be_reached_from_the_keyboard(draw):
    page = draw(two_heads())
    box = side(page, "from (query)")
    for _ in range(30):
        page.keyboard.press("Tab")
        if box.evaluate("node => node === document.activeElement"):
            break
    expect(box).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(sentence(page)).to_contain_text("“ran” (2) looks most at itself: 60 %")
    expect(box).to_have_attribute("aria-valuenow", "3")
    assert "“ran” (2) looks most" in box.get_attribute("aria-valuetext")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    expect(side(page, "to (key)")).to_be_focused()
    page.keyboard.press("End")
    expect(sentence(page)).to_contain_text("“the” (4) is looked at most by itself")
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    expect(sentence(page)).to_contain_text("“The” (0) is looked at most by itself: 100 %")
    assert page.evaluate("told.map((one) => one.value)") == [{"token": ["from", 2]}, {"token": None}]


def test_the_table_says_what_the_picture_shows(draw):
    page = draw(two_heads())
    page.get_by_text("The numbers as a table").click()
    hover(page, "from", "into")
    expect(page.locator("caption")).to_have_text("Attention from “into” (3)")
    expect(page.locator("thead th")).to_have_text(["to (key)", "mean", "H0", "H1"])
    expect(page.locator("tbody tr").first.locator("th, td")).to_have_text(["“into” (3)", "60\u00a0%", "20\u00a0%", "100\u00a0%"])


def test_views_of_one_link_point_together(draw):
    page = draw(two_heads(link="text"))
    page.evaluate("window.seen = []; addEventListener('headlight:point', ({ detail }) => seen.push(detail.position))")
    hover(page, "from", "ran")
    away(page)
    assert page.evaluate("seen") == [2, -1]
    page.evaluate("dispatchEvent(new CustomEvent('headlight:point', { detail: { link: 'text', position: 1 } }))")
    expect(sentence(page)).to_contain_text("“dog” (1) looks most")


def test_views_of_one_link_point_at_a_key_together(draw):
    page = draw(two_heads(link="text"))
    seen = "window.seen = []; addEventListener('headlight:point', ({ detail }) => seen.push([detail.link, detail.position]))"
    page.evaluate(seen)
    hover(page, "to", "ran")
    away(page)
    assert page.evaluate("seen") == [["text", 2], ["text/to", 2], ["text", -1], ["text/to", -1]]
    page.evaluate("dispatchEvent(new CustomEvent('headlight:point', { detail: { link: 'text/to', position: 1 } }))")
    assert set(numbers(page, "from")) == {"·dog", "·ran"}, "those that look at it have a number"


def test_cross_attention_has_sides_of_different_length(draw):
    page = draw(head_view(tokens(["Der", " Hund"]), tokens(WORDS), softmax(3, 2, 5, causal=False)))
    expect(labels(page, "from")).to_have_count(2)
    expect(labels(page, "to")).to_have_count(5)
    hover(page, "to", "into")
    assert set(numbers(page, "from")) == {"Der", "·Hund"}
    page.get_by_role("button", name="rows", exact=True).click()
    hover(page, "from", "Hund")
    expect(sentence(page)).to_contain_text("“Hund” (1) looks most at")


OVERLAPS = """all => all.map((one) => one.getBoundingClientRect()).sort((a, b) => a.y - b.y)
  .filter((box, i, boxes) => i && box.y < boxes[i - 1].bottom - 2).length"""


@pytest.mark.parametrize("width", [390, 1280])
def test_a_long_text_fits_and_its_labels_can_be_read(draw, width):
    words = [f" w{i}" for i in range(300)]
    page = draw(head_view(tokens(words), tokens(words), softmax(12, 300, 300)), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator(".stage").bounding_box()["height"] < 700
    assert 20 < labels(page, "from").count() < 60
    assert labels(page, "from").evaluate_all(OVERLAPS) == 0
    expect(sentence(page)).to_contain_text("the strongest 4,000 of")
    side(page, "from (query)").focus()
    for key in ("End", "ArrowUp", "PageUp"):
        page.keyboard.press(key)
    expect(sentence(page)).to_contain_text("“w288” (288) looks most at")
    expect(page.locator(".side.from .asked .word")).to_have_text("·w288")
    assert labels(page, "to").evaluate_all(OVERLAPS) == 0
    most = max(numbers(page, "to").values(), key=lambda number: float(number.strip("\u00a0%<")))
    assert most in sentence(page).text_content()


def test_every_label_of_a_long_text_can_be_scrolled_to(draw):
    words = [f" w{i}" for i in range(300)]
    page = draw(head_view(tokens(words), tokens(words), softmax(2, 300, 300)))
    page.get_by_role("button", name="every label").click()
    expect(labels(page, "from").first.locator(".word")).to_have_text("·w0")
    page.locator(".scroller").evaluate("node => (node.scrollTop = node.scrollHeight)")
    last = labels(page, "from").filter(has_text="w299")
    expect(last).to_be_visible()
    hover(page, "from", "w299")
    expect(sentence(page)).to_contain_text("“w299” (299) looks most at")
    side(page, "from (query)").focus()
    page.keyboard.press("Home")
    page.mouse.move(640, 5)
    expect(labels(page, "from").filter(has_text="w0").first).to_be_visible()
    stage, box = page.locator(".stage").bounding_box(), labels(page, "from").filter(has_text="w0").first.bounding_box()
    assert stage["y"] <= box["y"] < stage["y"] + stage["height"]


@pytest.mark.parametrize("style", ["lines", "ribbons"])
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_a_resize_in_mid_hover_keeps_what_is_shown(draw, layout, style):
    page = draw(two_heads())
    page.get_by_role("button", name=layout, exact=True).click()
    page.get_by_role("button", name=style, exact=True).click()
    hover(page, "from", "ran")
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.querySelector('.stage').getBoundingClientRect().right <= 390")
    drawn = "node => node.getContext('2d').getImageData(0, 0, node.width, node.height).data.some((v) => v)"
    assert page.locator("canvas:not(.away)").evaluate(drawn)
    page.set_viewport_size({"width": 1000, "height": 800})
    away(page)
    expect(sentence(page)).to_contain_text("14 lines")
    page.wait_for_function(f"({drawn})(document.querySelector('canvas.all'))")


def test_broken_weights_are_said_and_shown_as_nothing(draw):
    weights = np.stack([np.eye(3), np.eye(3)])
    weights[0, 2] = np.nan
    page = draw(head_view(tokens(["a", " b", " c"]), tokens(["a", " b", " c"]), weights))
    expect(page.locator(".note")).to_contain_text("3 weights are not a number")
    hover(page, "from", "c")
    assert numbers(page, "to") == {"a": "–", "·b": "–", "·c": "–"}
    hover(page, "from", "b")
    assert numbers(page, "to") == {"·b": "100\u00a0%"}


def test_text_stays_text_however_long(draw):
    texts = [NASTY, "<script>document.title='caught'</script>" * 80, "\n", "<|start|>"]
    page = draw(head_view(tokens(texts, special=3), tokens(texts, special=3), softmax(2, 4, 4)), width=390)
    expect(labels(page, "from").first.locator(".word")).to_have_text(NASTY)
    hover(page, "from", "<script>")
    expect(sentence(page)).to_contain_text("<script>document.title='caught'</script>")
    assert page.title() != "caught" and page.locator("img").count() == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("shape", [(0, 0, 0), (4, 0, 0), (0, 2, 2), (2, 0, 3), (2, 3, 0), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_little_or_nothing_is_drawn_without_an_error(draw, shape, layout, redraw):
    view = head_view(tokens(WORDS[: shape[1]]), tokens(WORDS[: shape[2]]), np.ones(shape) / max(1, shape[2]))
    page = draw(view)
    page.get_by_role("button", name=layout, exact=True).click()
    redraw(page, two_heads())
    redraw(page, view)
    page.get_by_text("The numbers as a table").click()
    for name in ("from (query)", "to (key)"):
        side(page, name).focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    expect(labels(page, "from")).to_have_count(shape[1])
    expect(labels(page, "to")).to_have_count(shape[2])


def test_who_wants_no_motion_gets_none(draw):
    page = draw(two_heads())
    assert page.locator("canvas.all").evaluate("node => getComputedStyle(node).transitionDuration") != "0s"
    page.emulate_media(reduced_motion="reduce")
    assert page.locator("canvas.all").evaluate("node => getComputedStyle(node).transitionDuration") == "0s"


def grave_violations(page: Page) -> list[tuple[str, str]]:
    """Return the rule and the HTML of each serious or critical violation that axe reports."""
    violations = Axe().run(page).response["violations"]
    return [(each["id"], each["nodes"][0]["html"]) for each in violations if each["impact"] in ("serious", "critical")]


@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_axe_finds_nothing_grave(draw, width, dark):
    page = draw(two_heads(WORDS * 12), width=width, dark=dark)
    page.get_by_text("The numbers as a table").click()
    hover(page, "from", "ran")
    page.wait_for_timeout(400)  # the table follows
    assert not grave_violations(page)
    page.get_by_role("button", name="every label").click()
    assert not grave_violations(page)


def test_beginners_are_asked_for_heads_and_a_threshold_alone(draw):
    eyes = np.stack([np.eye(3)] * 3)
    page = draw(head_view(tokens(["a", "b", "c"]), tokens(["a", "b", "c"]), eyes, layer=1, heads=[1], simple=True))
    expect(page.locator(".head:visible")).to_have_text(["H0", "H1", "H2"])
    controls = page.locator(".options :is(button, input, select):visible")
    expect(controls).to_have_count(1)
    expect(controls).to_have_attribute("type", "range")
    sentence = "L1 H1: 3 lines, of 2 % and more. Point at a token to see only its lines."
    expect(page.locator(".sentence")).to_have_text(sentence)
    expect(page.locator(".axis")).to_have_text(["from: looks", "to: is looked at"])
    expect(page.locator(".note")).to_have_text("")
