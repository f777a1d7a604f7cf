"""The way of a text as one picture, in a real browser: pointing, keys, leafing, playing, and nothing cut or covered."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.viz.views.test_stations_view import gaze, lane
from viz import modules
from viz.view import View
from viz.views.stations_view import Gaze, Lane, Outcome, Words, stations_view

TOKENS = ["<s>", " The", " farmer", " gave", " the", " hungry", " dog"]
WORDS = Words(
    steps={"look": "{token} looks at {key}", "layers": "after {layer}: {guess}", "chances": "then {best}"},
    rest={"rest": "{token}: {best}", "pointed": "{token} gives {share} to {key} by {head}"},
)


def drawn(
    tokens: list[str] = TOKENS,
    leads: bool = False,
    two: bool = False,
    layers: int = 4,
    words: Words = WORDS,
    begins: bool = False,
    simple: bool = False,
    repeats: bool = False,
) -> View:
    """repeats: the best outcome stands in the text already, and head H6 of the last layer looks at it."""
    guesses = [Outcome(f" guess{i}", 0.1 * (i + 1), id=i) for i in range(layers + 1)]
    outcomes = [Outcome(f" word{i}", 0.4 / (i + 1), id=10 + i) for i in range(5)]
    count = len(tokens)
    weights = np.zeros((8, count, count), np.float32)
    weights[:, range(count), [max(0, i - 1) for i in range(count)]] = 1.0  # every head looks at the token before
    inside = gaze(layers, 8, count, count)
    all_weights = dict.fromkeys(range(layers), weights)
    if repeats:
        outcomes[0] = Outcome(" farmer", 0.4, id=10)
        all_weights[layers - 1] = weights.copy()
        all_weights[layers - 1][6, -1] = 0.4 * weights[6, -1]
        all_weights[layers - 1][6, -1, 2] = 0.6
    own = Gaze(all_weights, inside.mixed, 1, 2, chosen=not two)
    vectors = np.random.default_rng(3).normal(size=(layers + 1, count, 64)).astype(np.float32)
    last = Lane(tokens, range(count), vectors, own, range(layers))
    lanes = [lane(["The", " cat", " sleeps", "."], layers, 8), last] if two else [last]
    if two:
        first = lanes[0]
        lanes[0] = Lane(
            first.tokens, first.places, first.vectors, Gaze(first.gaze.weights, first.gaze.mixed, 1, 0, False), range(layers)
        )
    bridge = gaze(layers, 8, count, 4, seed=5) if two else None
    options = {"leads": leads, "begins": begins, "simple": simple, "others": "all others: 8 %"}
    return stations_view(lanes, count - 1, guesses, outcomes, bridge=bridge, words=words, **options)


def sentence_of(page: Page):
    return page.locator(".said")


def sent_choices(page: Page) -> list[dict]:
    return [{name: value for name, value in event["value"].items() if name != "n"} for event in page.evaluate("told")]


def test_pointing_at_a_token_shows_its_way_alone(draw):
    page = draw(drawn())
    expect(sentence_of(page)).to_have_text("Dog: word0")
    page.locator(".token").nth(3).hover()
    expect(sentence_of(page)).to_have_text("Gave gives 100 % to farmer by L1 H2")
    assert page.locator(".token:not(.dim)").all_inner_texts() == ["·farmer", "·gave"]
    page.mouse.move(5, 5)
    expect(sentence_of(page)).to_have_text("Dog: word0")
    expect(page.locator(".token.dim")).to_have_count(0)


def test_the_row_that_is_followed_keeps_its_whole_sentence_where_the_mouse_rests_on_it(draw):
    page = draw(drawn())
    rest = sentence_of(page).text_content()
    tokens = page.locator(".token")
    followed = tokens.evaluate_all("all => all.findIndex((token) => token.getAttribute('aria-pressed') === 'true')")
    tokens.nth(followed).hover()
    expect(sentence_of(page)).to_have_text(rest)
    tokens.nth(0 if followed else 1).hover()
    expect(sentence_of(page)).not_to_have_text(rest)


def test_keys_walk_through_tokens_and_layers_and_choose(draw):
    page = draw(drawn(leads=True))
    token = page.locator(".token").nth(3)
    token.focus()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".token").nth(4)).to_be_focused()
    expect(sentence_of(page)).to_have_text("The gives 100 % to gave by L1 H2")
    page.keyboard.press("Enter")
    page.locator(".card[aria-pressed=true]").focus()
    page.keyboard.press("ArrowDown")  # the first layer is on top
    page.keyboard.press("Enter")
    expect(page.locator(".panel")).to_have_text("Layer L2, one of 4 (after L0 and L1)")
    page.locator(".thumb").nth(2).focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.locator(".outcome").nth(1).press("Enter")
    assert sent_choices(page) == [{"token": [0, 4]}, {"layer": 2, "head": 2}, {"layer": 2, "head": 3}, {"outcome": 11}]


def test_a_beginner_leafs_through_the_layers_here_alone(draw):
    page = draw(drawn())
    page.locator(".card").nth(4).click()
    expect(page.locator(".panel")).to_have_text("Layer L3, one of 4 (after L0 to L2)")
    expect(page.locator(".head .note").nth(2)).to_have_text("")
    assert sent_choices(page) == []


def test_who_wants_less_motion_sees_stations_step_by_step(draw):
    page = draw(drawn())
    page.emulate_media(reduced_motion="reduce")
    slider = page.get_by_role("slider", name="Station")
    slider.press("Home")
    expect(page.locator(".head.now strong")).to_have_text("Tokens")
    expect(page.locator(".card.wait")).to_have_count(5)
    for title in ("Vectors", "Looking"):
        slider.press("ArrowRight")
        expect(page.locator(".head.now strong")).to_have_text(title)
    expect(sentence_of(page)).to_have_text("Dog looks at hungry")
    slider.press("End")
    expect(page.locator(".wait")).to_have_count(0)
    expect(page.locator(".head.now")).to_have_count(0)
    expect(page.locator("output")).to_have_text("All together")
    expect(sentence_of(page)).to_have_text("Dog: word0")
    slider.press("ArrowLeft")
    expect(page.locator(".head.now strong")).to_have_text("Chances")
    expect(sentence_of(page)).to_have_text("Then word0")


def test_play_goes_from_station_to_station_and_a_new_text_has_its_numbers_at_once(draw, redraw):
    page = draw(drawn())
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".head.now strong")).to_have_text("Vectors")
    redraw(page, drawn([*TOKENS, " ran"]))
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(page.locator(".wait")).to_have_count(0)
    expect(sentence_of(page)).to_have_text("Ran: word0")
    expect(page.locator(".token")).to_have_count(8)


def test_it_opens_at_its_first_station_until_somebody_plays(draw):
    page = draw(drawn(begins=True, words=Words(steps={"tokens": "Pieces.", "vectors": "Numbers."})))
    expect(page.locator(".head.now strong")).to_have_text("Tokens")
    expect(sentence_of(page)).to_have_text("Pieces.")
    expect(page.locator(".token.dim")).to_have_count(0)
    expect(page.locator(".head.wait")).to_have_count(6)
    page.get_by_role("button", name="Play").click()
    expect(sentence_of(page)).to_have_text("Numbers.")
    expect(page.locator(".fresh")).to_have_count(0)


@pytest.mark.parametrize("part", ["text", "head"])
def test_a_new_text_or_head_ends_the_opening(draw, redraw, part):
    page = draw(drawn(begins=True))
    expect(page.locator(".head.wait")).to_have_count(6)
    if part == "text":
        redraw(page, drawn([*TOKENS, " ran"], begins=True))
    else:
        page.locator(".thumb").first.click()
    expect(page.locator(".head.wait")).to_have_count(0 if part == "text" else 4)
    expect(page.locator(".head.now strong")).to_have_text(["Looking"] if part == "head" else [])
    expect(page.locator(".fresh")).to_have_count(0)


def test_a_small_map_that_is_pointed_at_is_looked_through_and_has_its_name(draw):
    page = draw(drawn())
    assert page.locator(".thumb").evaluate_all("all => all.map((one) => getComputedStyle(one, '::after').content)") == [
        f'"H{head}"' for head in range(8)
    ]
    page.locator(".thumb").nth(5).hover()
    expect(sentence_of(page)).to_have_text("Dog gives 100 % to hungry by L1 H5")
    page.mouse.move(5, 5)
    expect(sentence_of(page)).to_have_text("Dog: word0")


@pytest.mark.parametrize("still", [False, True])
def test_play_opens_each_layer_and_then_the_head_that_looks_at_what_comes_next(draw, redraw, still):
    """And a new text, or a step back, brings back the head that was open before."""
    rest = dict(WORDS.rest) | {"again": "by {head} of {all}: {share} for {even}"}
    words = Words(steps=WORDS.steps, rest=rest)
    page = draw(drawn(words=words, repeats=True))
    if still:
        page.emulate_media(reduced_motion="reduce")
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    panels = []
    for _ in range(80):
        page.clock.run_for(300)
        panels.append(page.locator(".panel").inner_text().split(",")[0])
    assert [*dict.fromkeys(panels)] == (["Layer L1", "Layer L3"] if still else ["Layer L1", "Layer L0", "Layer L2", "Layer L3"])
    expect(sentence_of(page)).to_have_text("Dog: farmer by L3 H6 of 32: 60 % for 14 %")
    expect(page.locator(".thumb[aria-pressed=true]")).to_have_attribute("aria-label", "Head H6")
    if still:
        redraw(page, drawn([*TOKENS, " ran"], words=words, repeats=True))
    else:
        page.get_by_role("slider", name="Station").press("Home")
    expect(page.locator(".panel")).to_contain_text("Layer L1")
    expect(page.locator(".thumb[aria-pressed=true]")).to_have_attribute("aria-label", "Head H2")


def test_a_step_back_and_on_goes_to_the_stations_beside(draw):
    page = draw(drawn(begins=True))
    page.get_by_role("button", name="One step on").click()
    expect(page.locator(".head.now strong")).to_have_text("Vectors")
    page.get_by_role("button", name="One step back").click()
    expect(page.locator(".head.now strong")).to_have_text("Tokens")


def test_the_last_step_is_where_a_new_text_comes_to(draw, redraw):
    """With a summary after Play, and with the sentence about the text after typing: the slider and the open layer agree."""
    rest = dict(WORDS.rest) | {"sum": "in short: {best}.", "next": "Go on."}
    words = Words(steps=WORDS.steps, rest=rest, titles={"whole": "The end"})
    page = draw(drawn(words=words))
    page.emulate_media(reduced_motion="reduce")
    slider = page.get_by_role("slider", name="Station")
    slider.press("Home")
    slider.press("End")
    expect(page.locator("output")).to_have_text("The end")
    expect(sentence_of(page)).to_have_text("In short: word0. Go on.")
    expect(page.locator(".panel")).to_contain_text("Layer L1")
    slider.press("ArrowLeft")
    expect(page.locator(".panel")).to_contain_text("Layer L3")
    redraw(page, drawn([*TOKENS, " ran"], words=words))
    expect(page.locator("output")).to_have_text("The end")
    expect(sentence_of(page)).to_have_text("Ran: word0")
    expect(page.locator(".panel")).to_contain_text("Layer L1")


def test_beginners_read_layers_and_heads_in_words(draw):
    words = Words(
        notes={"look": "{head_words} looks", "vectors": "h + {tokens}"},
        steps={"tokens": "Pieces."},
        rest={"open": "open: {head_words} ({head}).", "stripes": "16 for 64", "cut": "Cut."},
    )
    page = draw(drawn(simple=True, begins=True, words=words))
    expect(page.locator(".panel")).to_have_text("Layer 1 (L1), the 2nd of 4: counting begins at 0")
    expect(page.locator(".head .note").nth(2)).to_have_text("Layer 1, head 2 looks")
    expect(page.locator(".head .note").nth(1)).to_have_text("h + {tokens}")
    expect(page.locator(".beside")).to_have_text("its 8 heads, H0 to H7")
    expect(page.locator(".key")).to_contain_text("16 for 64")
    expect(sentence_of(page)).to_have_text("Pieces.")
    for _ in range(2):
        page.get_by_role("button", name="One step on").click()
    expect(sentence_of(page)).to_have_text("Open: layer 1, head 2 (L1 H2).")
    for _ in range(2):
        page.get_by_role("button", name="One step back").click()
    expect(sentence_of(page)).to_have_text("Pieces. Cut.")


def test_beginners_have_no_guess_from_before_the_first_layer(draw):
    page = draw(drawn(simple=True))
    assert page.locator(".card .number").all_inner_texts() == ["L0", "L1", "L2", "L3"]
    tops = [box["y"] for node in page.locator(".card").all() if (box := node.bounding_box())]
    assert tops == sorted(tops)


def test_a_chance_is_written_alike_in_the_stack_and_among_the_outcomes(draw):
    page = draw(drawn())
    assert page.locator(".card .chance").all_inner_texts()[-1] == "50.0\u00a0%"


def test_play_leaves_time_to_read_and_ends_with_the_whole(draw):
    page = draw(drawn())
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(1800)  # a station without a sentence
    expect(page.locator(".head.now strong")).to_have_text("Vectors")
    page.clock.run_for(30_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    expect(sentence_of(page)).to_have_text("Dog: word0")
    long = Words(steps={"tokens": "A sentence that takes a while to read. " * 4})
    page = draw(drawn(words=long))
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(5000)
    expect(page.locator(".head.now strong")).to_have_text("Tokens")
    page.clock.run_for(5000)
    expect(page.locator(".head.now strong")).not_to_have_text("Tokens")


def test_on_a_phone_the_station_that_lights_up_comes_into_sight_and_its_sentence_stays(draw):
    page = draw(drawn(), width=358, height=500)
    page.emulate_media(reduced_motion="reduce")
    page.clock.install()
    page.get_by_role("button", name="Play").click()
    seen = []
    for _ in range(4):
        page.clock.run_for(1750)  # a station
        expect(page.locator(".head.now")).to_be_in_viewport(ratio=1)
        expect(sentence_of(page)).to_be_in_viewport(ratio=1)
        seen.append(page.evaluate("scrollY"))
    assert seen == sorted(seen) and seen[-1] > 0


def test_on_a_phone_the_guess_of_each_layer_is_in_sight_while_play_opens_it(draw):
    page = draw(drawn(layers=9), width=358, height=500)
    page.clock.install()
    page.get_by_role("slider", name="Station").press("Home")
    page.get_by_role("button", name="Play").click()
    layers = []
    for _ in range(100):
        page.clock.run_for(300)
        if page.locator(".head.now strong").all_inner_texts() == ["Layers"]:
            layers.append(page.locator(".panel").inner_text())
            if layers[-3:] == layers[-1:] * 3:  # the page has had time to move there
                expect(page.locator(".card[aria-pressed=true]")).to_be_in_viewport(ratio=1)
    assert [*dict.fromkeys(layers)][-1].startswith("Layer L8") and len({*layers}) == 9


JOINS = """() => {
  const place = (y) => ({ x: 100, y, w: 50, h: 20 });
  const g = { wide: true, across: [[5, 15]], cards: [0, 1, 2], cardPlaces: [place(80), place(50), place(20)],
    bands: { forward: [60, 90] }, outcomePlaces: [place(0)], panel: place(0) };
  const state = { g, header: { row: 1 }, last: 0, at: { lane0: { layer: 1, head: 0 } } };
  return modules["views/stations_view/drawing.js"].joinsOf(state).in[1][1];
}"""


def test_the_line_from_the_layer_leads_to_the_guess_after_this_layer(draw):
    """And not to the guess at the start, which the layer has not made."""
    script = modules.joined(["views/stations_view/drawing.js"])
    assert draw(drawn()).evaluate(f"() => {{ {script}; return ({JOINS})(); }}") == 30


@pytest.mark.parametrize(("width", "dark"), [(1000, False), (820, True), (358, False)])
@pytest.mark.parametrize("two", [False, True])
def test_nothing_is_cut_or_covered(draw, width, dark, two):
    page = draw(drawn(two=two), width=width, dark=dark)
    expect(page.locator(".token").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    boxes = page.evaluate(
        """() => [...document.querySelectorAll(
                '.head strong, .note, .token, .card, .outcome, .thumb, .panel, .key, .ends, .none')]
            .filter((node) => !node.hidden)
            .filter((node) => node.textContent || node.matches('.thumb'))
            .map((node) => { const { left, top, right, bottom } = node.getBoundingClientRect();
                             return [node.className + ' ' + node.textContent, left, top, right, bottom] })"""
    )
    for (name, left, top, right, bottom), (other, *rest) in combinations(boxes, 2):
        across, down = min(right, rest[2]) - max(left, rest[0]), min(bottom, rest[3]) - max(top, rest[1])
        assert across <= 1.5 or down <= 1.5, f"{name} lies over {other}"
    sizes = page.evaluate(
        """() => [...document.querySelectorAll('.hl *')]
            .filter((node) => [...node.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
            .map((node) => parseFloat(getComputedStyle(node).fontSize))"""
    )
    assert min(sizes) >= 12


def test_a_table_has_the_numbers_for_who_cannot_see_the_picture(draw):
    page = draw(drawn())
    tables = page.locator(".hidden table")
    expect(tables).to_have_count(3)
    expect(tables.nth(0)).to_contain_text("dog")
    assert tables.nth(1).locator("tr").all_inner_texts()[1:3] == ["input\tguess0\t10.0\u00a0%", "L0\tguess1\t20.0\u00a0%"]
    assert page.locator("canvas").get_attribute("aria-hidden") == "true"


@pytest.mark.parametrize(("simple", "ends"), [(False, ["to (key)", "from (query)"]), (True, ["looked at", "looks"])])
def test_both_ends_of_the_lines_are_named(draw, simple, ends):
    page = draw(drawn(simple=simple))
    left, right = page.locator(".ends span").nth(0), page.locator(".ends span").nth(1)
    expect(left).to_have_text(ends[0])
    expect(right).to_have_text(ends[1])
    first, second = left.bounding_box(), right.bounding_box()
    assert first and second and first["x"] + first["width"] < second["x"]


def test_what_is_read_before_the_first_layer_is_drawn_apart_from_the_layers(draw):
    cards = draw(drawn()).locator(".card:visible")
    assert ["input" in (card.get_attribute("class") or "").split() for card in cards.all()] == [True, False, False, False, False]
