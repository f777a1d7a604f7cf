"""Page "Space" and its view in a real browser: play, stop, follow, turn; cancel what takes long; what is too little is said."""

from __future__ import annotations

import io
import re
import zipfile
from urllib.parse import quote

import numpy as np
from playwright.sync_api import Page, expect

import models
from analysis import nearest, projection
from analysis.projections import nearest_tokens, prepared, typical_distance
from ui.state import DEFAULT_TEXT
from viz import percent
from viz.views.space_view import space_view

WAIT = 60_000
TOKENS = [f"word{i}" for i in range(30)]
NASTY = "<img src=x onerror=\"document.title='caught'\">"


def walk(dimensions: int, count: int = 30) -> np.ndarray:
    rng = np.random.default_rng(0)
    return (rng.normal(size=(1, count, dimensions)) + 0.3 * rng.normal(size=(4, count, dimensions)).cumsum(0)).astype(np.float32)


def picture(page: Page) -> str:
    """All that is drawn, to compare."""
    return page.locator("canvas").evaluate("canvas => canvas.toDataURL()")


def stage(page: Page):
    return page.locator(".stage")


def test_playing_moves_the_points_through_every_layer(draw):
    page = draw(space_view(TOKENS, walk(3)))
    page.evaluate(
        """() => { window.seen = []; new MutationObserver(() => seen.push(document.querySelector('.stage').textContent))
           .observe(document.querySelector('.stage'), {childList: true, characterData: true, subtree: true}); }"""
    )
    expect(stage(page)).to_have_text("after L2")
    page.get_by_role("button", name="Labels").click()  # which keep the places where they just were
    before = picture(page)
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(stage(page)).to_have_text("after L0")
    assert picture(page) != before
    expect(page.get_by_role("button", name="Play")).to_be_visible(timeout=60_000)  # it stops at the last layer
    assert page.evaluate("seen") == ["input", "after L0", "after L1", "after L2"]
    assert picture(page) == before


def test_one_can_stop_and_go_to_any_layer_by_keyboard(draw):
    page = draw(space_view(TOKENS, walk(3)))
    slider = page.get_by_role("slider", name="Layer")
    slider.focus()
    page.keyboard.press("Home")
    expect(stage(page)).to_have_text("input")
    page.keyboard.press("ArrowRight")
    expect(stage(page)).to_have_text("after L0")
    expect(slider).to_have_attribute("aria-valuetext", "after L0")
    page.get_by_role("application").focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    at = float(slider.input_value())
    assert at == round(at)  # never left between two layers
    drawn = picture(page)
    for key in ("ArrowLeft", "+"):
        page.keyboard.press(key)
        assert picture(page) != drawn
        drawn = picture(page)
    page.keyboard.press("0")
    page.keyboard.press("End")  # no key of the picture: nothing moves
    page.get_by_role("button", name="Reset").click()


def test_labels_do_not_hide_each_other_nor_a_point(draw):
    page = draw(space_view(TOKENS, walk(2)), width=700)
    boxes, spots = page.evaluate(
        """() => {
          const { fillText, arc } = CanvasRenderingContext2D.prototype, boxes = [], spots = [];
          CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
            const half = this.measureText(text).width / 2;
            if (/^word/.test(text)) boxes.push([x - half, y - 5, x + half, y + 5]);
            fillText.call(this, text, x, y);
          };
          CanvasRenderingContext2D.prototype.arc = function (x, y, ...rest) {
            spots.push([x, y]);
            arc.call(this, x, y, ...rest);
          };
          headlight.draw();
          return [boxes, spots];
        }"""
    )
    assert len(spots) == 30 and len(boxes) > 10
    for i, a in enumerate(boxes):
        assert not any(a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3] for b in boxes[:i])
        assert not any(a[0] < x < a[2] and a[1] < y < a[3] for x, y in spots)


def test_following_a_token_names_its_nearest_and_tells_the_app(draw):
    points = walk(2, 3)
    near = np.zeros((4, 3, 1), dtype=np.int32)
    near[:, 0] = 2
    page = draw(space_view([NASTY, "b", "c"], points, near=near, notes=["the first", "", ""]))
    page.get_by_role("combobox", name="Follow").select_option("0")
    locator = page.get_by_role("status")
    expect(locator).to_contain_text("after L2: the first")
    expect(locator).to_contain_text("nearest in all dimensions: “c”")
    assert page.evaluate("told") == [{"name": "chosen", "value": 0}]
    page.get_by_text("As a table").click()
    row = page.locator("tbody tr").first
    expect(row).to_contain_text("0 <img src=x")
    expect(row).to_contain_text(f"{abs(float(points[3, 0, 0])):.2g}")
    page.get_by_role("application").focus()
    page.keyboard.press("Escape")
    expect(locator).to_be_empty()
    assert page.evaluate("told")[-1] == {"name": "chosen", "value": None} and page.title() != "caught"


def test_beginners_see_a_trail_only_where_they_ask_and_a_table_without_coordinates(draw):
    near = np.zeros((4, 3, 1), dtype=np.int32)
    page = draw(space_view(["a", "b", "c"], walk(2, 3), near=near, near_by="by cosine", simple=True))
    trails, drawn = page.get_by_role("button", name="Trails"), picture(page)
    expect(trails).to_have_attribute("aria-pressed", "false")
    page.get_by_role("combobox", name="Follow").select_option("1")
    followed = picture(page)
    assert followed != drawn, "the way of this token alone"
    trails.click()
    assert picture(page) != followed
    page.get_by_text("As a table").click()
    expect(page.locator("thead th")).to_have_text(["Token", "Really nearest"])


def test_pointing_at_a_point_tells_of_it_and_a_press_keeps_it(draw):
    points = np.zeros((2, 2, 2), dtype=np.float32)
    points[:, 0], points[:, 1] = [-1, -1], [1, 1]
    page = draw(space_view(["left", "right"], points, values=["one", "two"], quantity="number"))
    box = page.locator("canvas").bounding_box()
    x, y = box["x"] + box["width"] - 46, box["y"] + 40
    page.mouse.move(x, y)
    expect(page.locator(".tip")).to_contain_text("rightnumber: two")
    page.mouse.click(x, y)
    expect(page.get_by_role("status")).to_contain_text("“right”, after L0: number: two")
    page.mouse.click(x, y)
    expect(page.get_by_role("status")).to_be_empty()


def test_dragging_turns_it_and_does_not_choose(draw):
    page = draw(space_view(TOKENS, walk(3)))
    before = picture(page)
    page.mouse.move(300, 200)
    page.mouse.down()
    page.mouse.move(380, 220, steps=4)
    page.mouse.up()
    assert picture(page) != before and page.evaluate("told") == []


def test_other_data_keeps_where_one_looks_from_and_the_layer(draw, redraw):
    page = draw(space_view(TOKENS, walk(3)))
    page.get_by_role("button", name="Labels").click()
    page.get_by_role("slider", name="Layer").focus()
    page.keyboard.press("Home")
    page.get_by_role("application").focus()
    page.keyboard.press("ArrowLeft")
    before = picture(page)
    redraw(page, space_view(TOKENS[:20], walk(3)[:, :20]))
    expect(stage(page)).to_have_text("input")
    redraw(page, space_view(TOKENS, walk(3)))
    assert picture(page) == before
    redraw(page, space_view(TOKENS, walk(3)[:1]))  # a single layer has nothing to play
    expect(page.get_by_role("button", name="Play")).to_be_hidden()


def test_a_picture_can_be_saved(draw):
    page = draw(space_view(TOKENS, walk(3)))
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save this picture as PNG").click()
    assert waiting.value.suggested_filename == "space-after-L2.png"
    assert waiting.value.path().read_bytes().startswith(b"\x89PNG")


# The page


def open_space(open_page, **choices: str) -> Page:
    return open_page("/space?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in choices.items()))


def box(page: Page):
    return page.get_by_label("Your text", exact=True)


def test_the_page_shows_the_tokens_with_the_numbers_of_this_text(open_page):
    page = open_space(open_page, space="Tokens", level="expert")
    expect(stage(page)).to_have_text("after L5", timeout=WAIT)
    hidden = models.load("writer").trace(DEFAULT_TEXT).hidden["self"]
    arranged = projection(hidden, "pca", 3)
    expect(page.get_by_text(f"trustworthiness {arranged.trustworthiness:.3f}")).to_be_visible()
    expect(page.get_by_text(f"of all layers together: {percent(arranged.explained.sum())}")).to_be_visible()
    page.get_by_text("As a table").click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(hidden.shape[1])
    names = [token.text.strip() for token in models.load("writer").tokenize(DEFAULT_TEXT)]
    expect(rows.nth(6)).to_contain_text(f"6 {names[6]}")
    near = ", ".join(names[i] for i in nearest_tokens(hidden)[-1, 6])
    expect(rows.nth(6).locator("td").last).to_have_text(near)
    page.get_by_role("button", name="Play").click()
    expect(stage(page)).to_have_text("input")
    expect(stage(page)).to_have_text("after L1", timeout=WAIT)
    box(page).fill("One two three four.")  # even where that takes a moment, the table stays open
    expect(rows).to_have_count(len(models.load("writer").tokenize("One two three four.")), timeout=WAIT)


def unfold(page: Page) -> None:
    """Open what limits the picture, where it is folded."""
    fold = page.get_by_test_id("stExpander").filter(has_text="How far to trust this picture").locator("details")
    fold.wait_for(timeout=WAIT)
    if fold.get_attribute("open") is None:
        fold.locator("summary").click()


def test_one_distance_serves_the_picture_and_the_nearest(open_page):
    """The distance is chosen, stands in the link, and the nearest tokens, the shares and the typical distances follow."""
    page = open_space(open_page, space="Tokens", level="intermediate", measure="Raw")
    expect(stage(page)).to_have_text("after L5", timeout=WAIT)
    hidden = models.load("writer").trace(DEFAULT_TEXT).hidden["self"]
    names = [token.text.strip() for token in models.load("writer").tokenize(DEFAULT_TEXT)]
    for measure in ("raw", "scaled"):
        unfold(page)
        arranged, apart = projection(hidden, measure=measure), typical_distance(prepared(hidden, measure))
        expect(page.get_by_text(f"typically {apart[0]:.3g} apart in the input")).to_be_visible(timeout=WAIT)
        expect(page.get_by_text(f"{percent(arranged.explained.sum())} of the variance").first).to_be_visible()
        page.get_by_role("combobox", name="Follow").select_option("6")
        near = ", ".join(f"“{names[i]}”" for i in nearest_tokens(hidden, measure=measure)[-1, 6])
        expect(page.get_by_role("status").filter(has_text="nearest in")).to_contain_text(f"dimensions, by distance: {near}")
        page.get_by_role("radio", name="Scaled").or_(page.get_by_role("button", name="Scaled")).first.click()
    assert "measure=Scaled" in page.url


def test_a_long_arrangement_can_be_cancelled_while_the_page_goes_on(open_page):
    text = " ".join(f"{word} {number}" for number in range(30) for word in ("river", "dog", "old")) + "."
    page = open_space(open_page, space="Tokens", level="expert", projection="t-SNE", text=text)
    cancel = page.get_by_role("button", name="Cancel")
    expect(cancel).to_be_visible(timeout=WAIT)
    expect(page.get_by_text(re.compile(r"… \d+\s%"))).to_be_visible()
    page.get_by_role("radio", name="Norm").or_(page.get_by_role("button", name="Norm")).first.click()
    expect(page.get_by_role("radio", name="Norm").or_(page.get_by_role("button", name="Norm")).first).to_be_enabled()
    cancel.click()
    expect(page.get_by_text("Cancelled.")).to_be_visible()
    expect(page.get_by_text("In words")).to_be_visible()
    page.get_by_role("button", name="Start again").click()
    expect(cancel).to_be_visible()
    box(page).fill("The dog ran.")  # another text: the long one is not wanted any more
    expect(stage(page)).to_have_text("after L5", timeout=WAIT)
    expect(cancel).to_have_count(0)
    expect(page.get_by_text(re.compile("the perplexity can be at most"))).to_be_visible()


def test_too_little_for_a_projection_is_said(open_page):
    page = open_space(open_page, space="Tokens", text="")
    expect(page.get_by_text("One token has no place among others").first).to_be_visible(timeout=WAIT)
    box(page).fill("Dog")
    expect(stage(page)).to_have_text("after layer 5, the last", timeout=WAIT)
    expect(page.get_by_text("One token has no place among others")).to_have_count(0)


def test_a_word_is_followed_through_texts(open_page):
    page = open_space(open_page, space="One word", level="intermediate")
    expect(page.get_by_text("1.00 in the input")).to_be_visible(timeout=WAIT)
    expect(page.locator(".legend")).to_contain_text("meaning 2")
    page.get_by_label("The word").fill("dog")
    page.keyboard.press("Enter")
    expect(page.locator(".legend").filter(has_text="your text")).to_be_visible(timeout=WAIT)  # the box above has it twice
    page.get_by_label("The word").fill("xylophone")
    page.keyboard.press("Enter")
    expect(page.get_by_text("“xylophone” is in none of these texts")).to_be_visible()


def test_the_vocabulary_answers(open_page):
    page = open_space(open_page, space="Vocabulary")
    page.get_by_text("Words most like a word, and sums of words").click(timeout=WAIT)
    answers = page.locator("table").filter(has_text="How alike")
    expect(answers.nth(1).locator("tbody tr").first).to_contain_text("herself", timeout=WAIT)
    page.get_by_label("Nearest to").fill("river")
    best = nearest(models.load("writer"), "river", 8, words_only=True)
    expect(answers.first.locator("tbody tr").first).to_contain_text(best["text"][0].strip())
    expect(answers.first.locator("tbody tr").first).to_contain_text(f"{best['cosine'][0]:.2f}")
    page.get_by_label("Words, any list").fill("one two three zzyzx")
    page.get_by_text("As a table").click()
    expect(page.locator("details").filter(has_text="As a table").locator("tbody tr")).to_have_count(4)


def test_everything_can_be_taken_away(open_page):
    page = open_space(open_page, space="Tokens", text="The dog ran into the house", level="intermediate")
    page.get_by_role("button", name="Take it away").click(timeout=WAIT)
    trace = models.load("writer").trace("The dog ran into the house")
    with page.expect_download() as waiting:
        page.get_by_role("button", name="TensorBoard").click()
    with zipfile.ZipFile(waiting.value.path()) as archive:
        vectors = np.loadtxt(io.BytesIO(archive.read("vectors.tsv")), delimiter="\t")
        assert archive.read("metadata.tsv").decode().count("\n") == len(vectors) + 1
    np.testing.assert_allclose(vectors, trace.hidden["self"].reshape(-1, 256), rtol=1e-4, atol=1e-4)
    with page.expect_download() as waiting:
        page.get_by_role("button", name="NPZ", exact=True).click()
    points = projection(trace.hidden["self"], "pca", 3).points
    np.testing.assert_allclose(np.load(waiting.value.path())["points"], points, atol=1e-3)
    page.get_by_role("button", name="Make a GIF").click()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save the GIF").click(timeout=WAIT)
    assert waiting.value.path().read_bytes().startswith(b"GIF89a")
