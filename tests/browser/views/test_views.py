"""Each view in a real browser: what it draws, what a press tells, how the keyboard walks, and that text stays text."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import Page, expect

import viz
from viz import View
from viz.views.dials import Dial, dials
from viz.views.grid_view import grid_view
from viz.views.pieces_view import Box, Row
from viz.views.space_view import space_view
from viz.views.sum_view import Product
from viz.views.time_slider import time_slider

WORDS = ["The", " dog", " ran", " into", " the"]
NASTY = "<img src=x onerror=\"document.title='caught'\"></script>"


def tokens(texts: list[str], special: int = -1, fragment: int = -1) -> list[SimpleNamespace]:
    return [SimpleNamespace(id=100 + i, text=t, special=i == special, fragment=i == fragment) for i, t in enumerate(texts)]


def previous(count: int) -> np.ndarray:
    """A head in which each token looks at the one before it with 3/4 and at itself with 1/4."""
    weights = 0.25 * np.eye(count) + 0.75 * np.eye(count, k=-1)
    weights[0, 0] = 1
    return weights


def sent_events(page: Page) -> list:
    return [(event["name"], event["value"]) for event in page.evaluate("told")]


def with_ids(*words: str) -> list[str]:
    return [f"{word}id {100 + i}" for i, word in enumerate(words)]


def test_chips_show_each_token_and_tell_which_was_pressed(draw):
    page = draw(viz.token_chips(tokens([*WORDS, NASTY, "\n", "<0xF0>"], special=0, fragment=7), chosen=4))
    chips = page.get_by_role("option")
    expect(chips).to_have_text(with_ids("The", "·dog", "·ran", "·into", "·the", NASTY, "↵", "<0xF0>"))
    expect(page.get_by_role("option", selected=True)).to_have_text("·theid 104")
    borders = chips.evaluate_all("all => all.map((chip) => getComputedStyle(chip).borderStyle)")
    assert (borders[0], borders[1], borders[7]) == ("dashed", "solid", "dotted")
    chips.nth(2).click()
    expect(page.get_by_role("option", selected=True)).to_have_text("·ranid 102")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.keyboard.press("End")
    expect(chips.last).to_be_focused()
    assert chips.evaluate_all("all => all.filter((chip) => chip.tabIndex === 0).length") == 1
    assert sent_events(page) == [("chosen", 2), ("chosen", 3), ("chosen", 0)]
    assert page.title() != "caught" and page.locator("img").count() == 0


def test_a_keystroke_touches_only_the_chips_that_changed(draw, redraw):
    page = draw(viz.token_chips(tokens(WORDS), chosen=-1))
    page.evaluate(
        """() => { window.touched = new Set(); new MutationObserver((all) => all.forEach(({ target }) => {
             const chip = (target.closest ? target : target.parentElement).closest(".chip");
             if (chip) touched.add(Number(chip.dataset.position));
           })).observe(document.querySelector(".chips"), { subtree: true, childList: true, characterData: true }); }"""
    )
    redraw(page, viz.token_chips(tokens([*WORDS[:4], " they", " all"]), chosen=-1))
    expect(page.get_by_role("option")).to_have_text(with_ids("The", "·dog", "·ran", "·into", "·they", "·all"))
    assert page.evaluate("[...touched].sort()") == [4, 5]


def test_a_text_opens_at_its_beginning_and_the_last_chips_stay_in_view_unless_one_scrolls_up(draw, redraw):
    many = WORDS * 50
    page = draw(viz.token_chips(tokens(many[:-1]), chosen=-1), width=640)
    chips = page.locator(".chips")
    assert chips.bounding_box()["height"] < 220
    gap = "list => list.scrollHeight - list.clientHeight - list.scrollTop"
    assert chips.evaluate("list => list.scrollTop") == 0
    redraw(page, viz.token_chips(tokens(many + WORDS * 3), chosen=-1))
    page.wait_for_function(f"({gap})(document.querySelector('.chips')) < 2")
    chips.evaluate("list => (list.scrollTop = 0)")
    page.wait_for_function("document.querySelector('.chips').classList.contains('below')")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    redraw(page, viz.token_chips(tokens(many + WORDS * 6), chosen=-1))
    assert chips.evaluate("list => list.scrollTop") == 0


def test_bars_are_as_long_as_their_probability_and_every_press_arrives(draw):
    view = viz.prediction_bars([" forest", " field", NASTY], [0.4, 0.1, 0.05], ids=[7, 8, 9], logits=[2.0, 0.61, -0.08])
    page = draw(view)
    rows = page.get_by_role("button")
    expect(rows).to_have_count(3)
    expect(rows.locator(".number")).to_have_text(["40.0 %", "10.0 %", "5.00 %"])
    expect(rows.locator("bdi")).to_have_text(["·forest", "·field", NASTY])
    expect(rows.locator(".logit")).to_have_text(["2.00", "0.61", "−0.08"])
    page.wait_for_timeout(200)  # the bars glide
    widths = page.locator(".bar").evaluate_all("all => all.map((bar) => bar.getBoundingClientRect().width)")
    assert widths[1] / widths[0] == pytest.approx(0.25, abs=0.01)
    rows.nth(1).click()
    rows.nth(1).click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    values = [value for _, value in sent_events(page)]
    assert [(v["index"], v["id"]) for v in values] == [(1, 8), (1, 8), (2, 9)]
    assert values[0]["n"] < values[1]["n"] < values[2]["n"]
    expect(rows.first).to_have_accessible_name("forest, 40.0 %, logit 2.00")
    assert page.locator("img").count() == 0


def test_of_words_above_a_picture_three_lines_stand_there_and_the_rest_unfolds(draw, redraw):
    def cards(above: str) -> View:
        bars = viz.prediction_bars([" a", " b"], [0.4, 0.1], ids=[7, 8])
        alone = viz.Card([viz.Part("alone", None, "Nothing is drawn here. " * 40)], "", 5)
        row = viz.Card([viz.Part("row", None, "One sentence after another. " * 20, "These words are below. " * 40)])
        return viz.board([row, viz.Card([viz.Part("words", None, above), viz.Part("bars", bars, above)], "", 5), alone])

    page = draw(cards("Short. Two.\n\n" + "One sentence after another. " * 20), width=390)
    more = page.locator("summary:visible")
    expect(more).to_have_text(["… More", "… More", "… More"])
    clips = page.locator(".words .clip")
    lines = "all => all.slice(0, 3).map((clip) => clip.offsetHeight / parseFloat(getComputedStyle(clip).lineHeight))"
    assert all(lines_seen <= 3.5 for lines_seen in clips.evaluate_all(lines))  # and the room between two paragraphs
    more.first.click()
    expect(more).to_have_text(["Less", "… More", "… More"])
    assert clips.evaluate_all(lines)[0] > 10 > 3.5 >= clips.evaluate_all(lines)[1]
    redraw(page, cards("Now it is short."))
    expect(more).to_have_count(1)


def test_a_card_that_would_be_half_empty_ends_with_what_it_holds(draw, redraw):
    def cards(lines: int) -> View:
        long = viz.Card([viz.Part("long", None, "\n\n".join(["A line."] * 20))], "Long", 5)
        return viz.board([long, viz.Card([viz.Part("short", None, "\n\n".join(["A line."] * lines))], "Short", 5)])

    page = draw(cards(4), width=1000)
    heights = "() => [...document.querySelectorAll('.card')].map((card) => card.getBoundingClientRect().height)"
    page.wait_for_function(f"(([long, short]) => short < 0.5 * long)(({heights})())")
    redraw(page, cards(18))
    page.wait_for_function(f"(([long, short]) => short === long)(({heights})())")
    redraw(page, cards(4))
    page.wait_for_function(f"(([long, short]) => short < 0.5 * long)(({heights})())")


def test_a_board_draws_its_parts_tells_which_was_pressed_and_redraws_what_changed(draw, redraw):
    def cards(word: str, below: str) -> View:
        chips = viz.Part("chips", viz.token_chips(tokens(WORDS)))
        bars = viz.Part("bars", viz.prediction_bars([word, " b"], [0.4, 0.1], ids=[7, 8]), "Press **one** <b>here</b>.", below)
        words = viz.Part("none", None, "It failed.\n\n- once\n- *twice*\n\n- not a list,\nfor this line has no hyphen")
        return viz.board([viz.Card([chips]), viz.Card([bars], NASTY, 5), viz.Card([words], "", 6)])

    page = draw(cards(" forest", "first"))
    expect(page.get_by_role("option")).to_have_count(5)
    expect(page.get_by_role("heading", name=NASTY)).to_be_visible()
    expect(page.locator("strong")).to_have_text("one")
    expect(page.get_by_text("<b>here</b>")).to_be_visible()
    expect(page.get_by_text("It failed.")).to_be_visible()
    expect(page.get_by_role("listitem")).to_have_text(["once", "twice"])
    page.evaluate("window.kept = document.querySelector('[role=option]')")
    redraw(page, cards(" field", "second"))
    expect(page.get_by_role("button").first).to_have_accessible_name("field, 40.0 %")
    expect(page.get_by_text("second")).to_be_visible()
    assert page.evaluate("window.kept === document.querySelector('[role=option]')"), "what did not change was drawn again"
    page.get_by_role("button").nth(1).click()
    page.get_by_role("option").nth(2).click()
    values = [value for _, value in sent_events(page)]
    assert [choice["part"] for choice in values] == ["bars", "chips"]
    assert values[0]["value"]["id"] == 8 and values[1]["value"] == 2


def test_beginners_read_whole_per_cent(draw):
    page = draw(viz.prediction_bars([" a", " b"], [0.4, 0.001], whole=True))
    expect(page.locator(".number")).to_have_text(["40\u00a0%", "under 1\u00a0%"])


def shades(page: Page) -> list[str]:
    return page.locator(".word").evaluate_all("all => all.map((word) => word.style.getPropertyValue('--shade') || '0%')")


def test_the_paragraph_is_shaded_by_the_word_one_points_at(draw):
    page = draw(viz.reading_view(tokens(WORDS), previous(5)))
    sentence = page.locator(".sentence")
    expect(sentence).to_have_text("“the” looks most at “into” (75.0 %), then itself (25.0 %).")
    assert page.locator(".text").inner_text() == "".join(WORDS)
    resting = shades(page)
    page.locator(".token").nth(1).hover()
    expect(sentence).to_have_text("“dog” looks most at “The” (75.0 %), then itself (25.0 %). “the” gives it 0 %.")
    assert shades(page)[0] != "0%" and shades(page)[3] == "0%"
    expect(page.locator(".faint")).to_have_text([" ran", " into", " the"])
    page.mouse.move(600, 600)
    expect(sentence).to_contain_text("“the” looks most at “into”")
    assert shades(page) == resting
    page.locator(".token").nth(2).click()
    page.mouse.move(600, 600)
    expect(sentence).to_contain_text("“ran” looks most at “dog”")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert sent_events(page) == [("chosen", 2), ("chosen", 1)]
    expect(page.locator("caption")).to_have_text("Attention from dog")
    expect(page.locator("td")).to_have_text(["75.0 %", "25.0 %", "–", "–", "–"])  # the rest it cannot look at


def test_a_mouse_at_rest_does_not_hold_back_the_paragraph(draw, redraw):
    page = draw(viz.reading_view(tokens(WORDS), previous(5)))
    page.locator(".word").nth(1).hover()
    expect(page.locator(".sentence")).to_contain_text("“dog” looks most at “The”")
    redraw(page, viz.reading_view(tokens(["Yesterday evening ", *WORDS]), previous(6)))
    page.wait_for_timeout(150)  # Chromium tells of the word that has come under the mouse
    expect(page.locator(".sentence")).to_contain_text("“the” looks most at “into”")


def test_the_paragraph_turns_round_to_who_looks_at_a_word(draw):
    page = draw(viz.reading_view(tokens(WORDS), previous(5), chosen=2, toggle=True))
    page.get_by_role("button", name="is looked at by", exact=True).click()
    expect(page.locator(".sentence")).to_have_text("“ran” is looked at most by “into” (75.0 %), then itself (25.0 %).")
    expect(page.locator(".faint")).to_have_text(["The", " dog"])


def test_text_in_the_paragraph_stays_text(draw):
    texts = ["<|start|>", "Hi", "\n", NASTY, " <0xF0>", "\u200d", " שלום", "\x00", "\ud800"]
    page = draw(viz.reading_view(tokens(texts, special=0, fragment=4), previous(9)))
    words = page.locator(".word")
    expect(words).to_have_text(["start", "Hi", "↵", NASTY, "<0xF0>", "U+200D", "שלום", "␀", "U+D800"])
    tops = words.evaluate_all("all => all.map((word) => word.getBoundingClientRect().top)")
    assert tops[3] > tops[1] + 10  # a real line break
    assert page.locator("img").count() == 0 and page.title() != "caught"


def test_a_right_to_left_text_runs_from_the_right_and_so_do_the_arrows(draw):
    page = draw(viz.reading_view(tokens(["שלום", " עולם", " טוב"]), previous(3), chosen=0))
    lefts = page.locator(".word").evaluate_all("all => all.map((word) => word.getBoundingClientRect().left)")
    assert lefts[0] > lefts[1] > lefts[2]
    page.locator(".token").first.focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".token").nth(1)).to_be_focused()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_can_be_read_at_every_shade(draw, dark):
    count = 21
    weights = np.tril(np.ones((count, count)))
    weights[-1] = np.linspace(0, 1, count)  # no softmax gives this row: it shows every shade at once
    page = draw(viz.reading_view(tokens([f" w{i}" for i in range(count)]), weights), dark=dark)
    least = page.evaluate(
        """() => {
          const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
          const linear = (v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
          const light = (...layers) => {
            for (const colour of layers) { pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1); }
            const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map(linear);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const paper = getComputedStyle(document.body).backgroundColor;
          return Math.min(...[...document.querySelectorAll(".word")].map((word) => {
            const style = getComputedStyle(word);
            const [a, b] = [light(paper, style.backgroundColor), light(style.color)].sort((x, y) => x - y);
            return (b + 0.05) / (a + 0.05); }));
        }"""
    )
    assert least > 4.4


def test_chips_and_paragraph_of_one_link_point_together(draw):
    page = draw(viz.reading_view(tokens(WORDS), previous(5), link="text"))
    point = "at => dispatchEvent(new CustomEvent('headlight:point', { detail: { link: at[0], position: at[1] } }))"
    page.evaluate(point, ["text", 2])
    expect(page.locator(".sentence")).to_contain_text("“ran” looks most at “dog”")
    page.evaluate(point, ["other", 1])
    expect(page.locator(".sentence")).to_contain_text("“ran” looks most at “dog”")
    page.evaluate(point, ["text", -1])
    expect(page.locator(".sentence")).to_contain_text("“the” looks most at “into”")


def test_a_long_trail_is_folded_until_a_press_shows_all_and_every_step_leads_back(draw):
    page = draw(viz.sum_view("a number", 2.0, [Product("x", 2.0, 1.0, 2.0, (True, False))], trail=list("abcdefghi")))
    steps = page.locator(".trail button")
    expect(steps).to_have_text(["a", "4 more", "f", "g", "h", "i"])
    steps.nth(2).click()
    steps.nth(1).click()
    expect(steps).to_have_text(list("abcdefghi"))
    expect(steps.nth(1)).to_be_focused()
    steps.nth(1).click()
    assert [value["back"] for _, value in sent_events(page)] == [5, 1]


@pytest.mark.parametrize(
    "view",
    [
        viz.token_chips([]),
        viz.prediction_bars([], []),
        viz.reading_view([], np.zeros((0, 0))),
        viz.reading_view(tokens(["a"]), np.ones((1, 1))),
        viz.model_view(np.zeros((1, 1, 0, 0))),
        viz.model_view(np.ones((1, 1, 1, 1))),
        viz.pieces_view(0, [], [""], [""]),
        viz.sum_view("a number", 0.0, []),
        viz.way_view([]),
    ],
    ids=lambda view: f"{view.kind}-{view.label}",
)
def test_little_or_nothing_is_drawn_without_an_error(draw, view, redraw):
    page = draw(view)
    redraw(page, view)
    assert page.locator(".hl").count() == 1


def test_in_a_notebook_the_frame_takes_the_height_it_needs(new_page):
    page = new_page()
    page.set_content("<!doctype html>" + viz.token_chips(tokens(WORDS))._repr_html_())
    page.wait_for_function("document.querySelector('iframe').offsetHeight < 200")
    expect(page.frame_locator("iframe").get_by_role("option")).to_have_count(5)


PLAYERS = {
    "grid": lambda: grid_view(np.eye(3)[:2, None], ["a"], "xyz", frames=["one", "two"]),
    "time": lambda: time_slider(["one", "two"], 1, 1),
    "pieces": lambda: viz.pieces_view(1, [Row([Box("a", 0, 1)]), Row([Box(NASTY, 0, 1)], 1)], ["one", "two"], ["1", "2"]),
    "shares": lambda: viz.compare_view(tokens(WORDS), ["a"], np.full((2, 1, len(WORDS)), 0.2), ["one", "two"]),
    "space": lambda: space_view(tokens(WORDS), np.random.default_rng(0).normal(size=(2, len(WORDS), 3)), stages=["one", "two"]),
}


@pytest.mark.parametrize("player", PLAYERS)
def test_a_player_draws_its_sign_and_asks_no_font_for_it(draw, player):
    button = (page := draw(PLAYERS[player]())).get_by_role("button", name="Play")
    shape = button.locator("svg path")
    triangle, box = shape.get_attribute("d"), shape.bounding_box()
    assert box["width"] > 5 and box["height"] > 5 and button.inner_text() == "Play"
    button.click()
    pause = page.get_by_role("button", name="Pause")
    expect(pause).to_have_text("Pause")
    assert pause.locator("svg path").get_attribute("d") != triangle


def test_a_button_takes_a_change_back_and_a_dial_tells_its_number(draw, redraw):
    page = draw(viz.change_list(["one", NASTY]))
    page.get_by_role("button", name="one", exact=True).click()
    assert page.evaluate("told.at(-1).value") == 0 and page.get_by_role("button", name="Undo").is_disabled()
    redraw(page, viz.change_list([], back=True))
    assert page.get_by_role("button", name="As it was").is_disabled() and page.get_by_role("button").count() == 2
    page.get_by_role("button", name="Undo").click()
    assert page.evaluate("told.at(-1).value") == "undo"
    page = draw(dials([Dial("Strength", 1.0, 0.0, 2.0), Dial("Weight", 0.0, -4.0, 4.0, 0.5)]))
    page.get_by_role("slider", name="Weight").press("ArrowLeft")
    assert page.evaluate("told.at(-1).value") == [1, -0.5] and page.get_by_text("−0.5").is_visible()


def test_cells_that_are_out_of_sight_can_be_pointed_at_from_elsewhere(new_page, tmp_path):
    view = grid_view(np.eye(2), ["a", "b"], ["c", "d"], label="Hidden", link="link")
    (tmp_path / "page.html").write_text(view.to_html().replace('<main id="view">', '<main id="view" hidden>'), "utf-8")
    page = new_page()
    page.goto((tmp_path / "page.html").as_uri())
    page.evaluate("dispatchEvent(new CustomEvent('headlight:point', { detail: { link: 'link', position: 3 } }))")
    page.evaluate("document.getElementById('view').hidden = false")
    expect(page.locator(".tip")).to_have_text("b d: 1")


def test_a_cell_that_is_pointed_at_elsewhere_is_pointed_at_here_and_the_other_way_round(draw):
    page = draw(grid_view(np.arange(6.0).reshape(2, 3), ["L2", "L4"], ["H0", "H1", "H2"], label="Entropy"))
    page.evaluate("() => { window.points = []; addEventListener('headlight:point', ({ detail }) => points.push(detail)); }")
    point = "(position) => dispatchEvent(new CustomEvent('headlight:point', { detail: { link: 'Entropy', position } }))"
    page.evaluate(point, 5)
    expect(page.locator(".tip")).to_have_text("L4 H2: 5")
    page.evaluate(point, -1)
    expect(page.locator(".tip")).to_be_hidden()
    page.get_by_role("grid").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("points.slice(2).map(({ link, position }) => [link, position])") == [["Entropy", 0], ["Entropy", 3]]
