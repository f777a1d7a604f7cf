"""Page "Type" as a person uses it: a real browser, real keys, the real model."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

from playwright.sync_api import Page, expect

import models
from analysis import head_scores
from viz import percent


def box(page: Page):
    return page.get_by_label("Your text")


def ready(page: Page) -> Page:
    expect(page.get_by_text("What comes next")).to_be_visible(timeout=60_000)
    expect(bars(page).first).to_be_visible()
    return page


def chips(page: Page):
    return page.locator("[data-part=chips]").get_by_role("option")


def bars(page: Page):
    return page.locator("[data-part=bars]").get_by_role("button")


def no_error(page: Page) -> None:
    assert page.locator(".stException, .stAlertContainer:has-text('went wrong')").count() == 0
    assert "Traceback" not in page.inner_text("body")


def test_typing_changes_tokens_predictions_and_where_it_looks(open_page):
    page = ready(open_page("/?text=Once&level=intermediate"))
    writer = models.load("writer")
    box(page).click()
    page.keyboard.press("End")
    text = "Once"
    seen = set()
    for key in " upon a time":
        page.keyboard.press("Space" if key == " " else key)
        text += key
        expect(chips(page)).to_have_count(len(writer.tokenize(text)))
        best = writer.predict(text, top=1)[0]
        expect(bars(page).first).to_contain_text(best.text.strip() or "·")
        expect(bars(page).first).to_contain_text(percent(best.probability))
        seen.add((bars(page).first.inner_text(), page.locator(".hl-reading-view").inner_text()))
    assert len(seen) > 6, "the pictures hardly changed while the text did"
    expect(box(page)).to_have_value("Once upon a time")


def test_shift_and_enter_write_a_line_break(open_page):
    page = ready(open_page("/?text=Once"))
    box(page).click()
    page.keyboard.press("End")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("Upon")
    expect(box(page)).to_have_value("Once↵Upon")


def test_a_press_on_a_prediction_appends_it(open_page):
    page = ready(open_page("/?text=Once+upon+a"))
    bars(page).first.click()
    expect(box(page)).to_have_value("Once upon a time")
    expect(bars(page).first).not_to_contain_text("time")
    bars(page).first.click()
    expect(box(page)).to_have_value(re.compile(r"^Once upon a time\S+|^Once upon a time \S+"))


def test_a_shared_link_opens_the_same(open_page):
    page = ready(open_page("/?level=intermediate"))
    box(page).fill("The old woman went to the")
    expect(chips(page)).to_have_count(7)
    page.locator("[data-part=heads] canvas").click(position={"x": 60, "y": 60})
    expect(page).to_have_url(re.compile("layer=L0.*head=H0|head=H0.*layer=L0"))
    other = ready(open_page(urlsplit(page.url).path + "?" + urlsplit(page.url).query))
    expect(box(other)).to_have_value("The old woman went to the")
    for key in (".st-key-layer", ".st-key-head"):
        assert other.locator(f"{key} input").input_value() == page.locator(f"{key} input").input_value()
    assert bars(other).all_inner_texts() == bars(page).all_inner_texts()


def test_pointing_at_a_word_shades_the_others(open_page):
    page = ready(open_page("/?text=The+cat+sat+on+the+mat&level=beginner"))
    words = page.locator("[data-part=reading] .word")
    before = page.locator(".hl-reading-view").inner_text()
    words.nth(3).hover()
    page.wait_for_timeout(200)
    assert page.locator(".hl-reading-view").inner_text() != before


HOSTILE = [
    "",
    "a",
    "     ",
    "\t \u2028",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "שלום עולם مرحبا",
    "\x01\x02\x1b[31m\x7f",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "**bold** _it_ # h [l](javascript:alert(1)) `c` :smile: :red[x]",
    "$x^2$ $$\\frac{1}{2}$$ \\(a\\)",
    "&lt;b&gt; &amp; %00 +",
]


def test_any_text_gives_a_picture_and_stays(open_page):
    page = ready(open_page("/?level=expert"))
    page.evaluate("() => { window.alert = () => { throw new Error('a script of the text ran') } }")
    for text in HOSTILE:
        box(page).fill(text)
        typed = box(page).input_value()
        expect(chips(page)).to_have_count(len(models.load("writer").tokenize(typed)))
        expect(bars(page)).to_have_count(10)
        assert box(page).input_value() == typed
        assert page.locator(".stMain img[src='x'], .stMain b:text-is('bold')").count() == 0
        no_error(page)


def test_odd_bytes_in_a_link(open_page):
    page = ready(open_page("/?text=%ED%A0%80x%00%F0%9F"))
    no_error(page)


def test_a_hundred_thousand_characters(open_page):
    page = ready(open_page("/"))
    text = ("The cat sat on the mat. " * 4200)[:100_000]
    box(page).fill(text)
    expect(page.get_by_text("are left out here")).to_be_visible()
    expect(chips(page)).to_have_count(256)
    assert box(page).input_value() == text
    assert len(page.url) < 60_000, "a server refuses to open so long an address again"
    expect(page.get_by_text("are left out here")).to_contain_text(f"{len(text):,}")
    no_error(page)
    box(page).fill("short again")
    expect(page.get_by_text("are left out here")).to_have_count(0)


def test_a_made_up_link_says_so_and_shows_the_default(open_page):
    """tests/pages/test_links.py has every other kind of wrong link; here its words stay text in a browser."""
    page = ready(open_page("/?text=Hello+there&model=" + quote("**x** $y$ [z](http://a) <b>")))
    expect(page.get_by_text("the model “**x** $y$ [z](http://a) <b>”")).to_be_visible()
    expect(box(page)).to_have_value("Hello there")
    no_error(page)


def test_a_kept_token_is_let_go_by_a_second_press_and_by_a_shorter_text(open_page):
    page = ready(open_page("/?text=The+cat+sat+on+the+mat&level=beginner"))
    selected = page.locator("[data-part=chips]").get_by_role("option", selected=True)
    expect(selected).to_contain_text("mat")
    chips(page).nth(4).click()
    expect(selected).to_contain_text("on")
    expect(page.locator("[data-part=reading] .sentence")).to_contain_text("“on” looks")
    chips(page).nth(4).click()
    expect(selected).to_contain_text("mat")
    chips(page).nth(4).click()
    expect(selected).to_contain_text("on")
    box(page).fill("The cat")
    expect(chips(page)).to_have_count(3)
    box(page).fill("The cat sat on the mat")
    expect(chips(page)).to_have_count(7)
    expect(selected).to_contain_text("mat")


def test_a_line_break_in_a_link_or_a_prediction_is_no_trap(open_page):
    page = ready(open_page("/?text=One%0Atwo&level=expert"))
    expect(box(page)).to_have_value("One↵two")
    expect(chips(page)).to_have_count(len(models.load("writer").tokenize("One\ntwo")))


def test_a_beginner_sees_the_head_that_the_words_speak_of(open_page):
    page = ready(open_page("/?level=beginner&layer=L0&head=H1&text=The+cat+sat"))
    scores = head_scores(models.load("writer"))
    best = scores.loc[scores["previous"].idxmax()]
    weights = models.load("writer").trace("The cat sat").attention["self"][int(best["layer"])][int(best["head"])]
    sentence = page.locator("[data-part=reading] .sentence")
    expect(sentence).to_contain_text(percent(weights[-1].max()).split(" ")[0][:3])
    expect(page.locator("[data-part=heads]")).to_contain_text(percent(best["previous"]))


def test_the_page_is_no_longer_than_what_it_shows(open_page):
    page = ready(open_page("/?level=intermediate&text=" + "The+cat+sat+on+the+mat.+" * 16))
    page.wait_for_timeout(800)
    assert page.evaluate("document.querySelector('.stMain').scrollHeight") < 1500


def test_examples_fill_the_box(open_page):
    page = ready(open_page("/"))
    page.get_by_role("button", name="Examples").click()
    page.get_by_role("menuitem", name=re.compile("Once upon a time there was")).click()
    expect(box(page)).to_have_value(re.compile("^Once upon a time there was"))


def test_on_a_phone_a_long_text_shows_its_end_and_who_types_keeps_both_ways_to_begin(open_page):
    page = ready(open_page("/", width=390, height=844))
    beyond = "node => node.scrollWidth - node.clientWidth - node.scrollLeft"
    box(page).press("End")
    box(page).press_sequentially(" little cat of an old farmer")
    expect(page.locator("[data-part=chips]")).to_contain_text("farmer")
    assert box(page).evaluate("node => node.scrollWidth - node.clientWidth") > 50, "or all of the text is in sight"
    page.wait_for_function(f"({beyond})(document.querySelector('.st-key-text input')) < 2")
    for name in ("Lesson 1", "Look around"):
        expect(page.get_by_role("button", name=name)).to_be_visible()
