"""No page at any level has a fault that axe-core calls serious or critical, and each fits a telephone."""

from __future__ import annotations

import re
from itertools import zip_longest
from urllib.parse import quote_plus

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

GRAVE = ("serious", "critical")
FITS = """() => document.querySelector(".stMain").scrollWidth <= innerWidth
  && [...document.querySelectorAll(".stMain [role=radiogroup]")].every((one) => one.scrollWidth <= one.clientWidth + 1)"""
LEVELS = ["beginner", "intermediate", "expert"]
PAGES = {  # the address of a page at its first part, and the parts that are chosen on the open page
    "?": (),
    "attention?view=Head": ("Reading", "Model", "Query-key", "Heatmap"),
    "layers?part=Evolution": ("Statistics", "Lens"),
    "flow?show=Sources": ("Layer by layer", "Streams", "Which to believe"),
    "explain?explain=The%20words": ("Which to believe", "Methods"),
    "heads?layer=L4&head=H5": (),
    "heads?heads-part=Importance&heads-text=your+text": ("Stand-ins", "Weights"),
    "space?space=Tokens": ("Vocabulary",),
    "inside?stage=weights": (),
    "generate?generate-seed=1": (),
    "build?build=Architecture": ("Cost", "Positions"),
    "change?experiment=Switch+off": ("Two texts", "What wrote it", "Circuit", "Steer"),
    "overview?": (),
}
NOT_FOR_BEGINNERS = ("heads?heads-part=Importance&heads-text=your+text", "change?experiment=Switch+off")
OPTIONS = "{ resultTypes: ['violations'], selectors: false, preload: false }"  # no rule of ours needs the style sheets as text
AXE = f"(where) => axe.run(where, {OPTIONS}).then((results) => results.violations)"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@pytest.mark.parametrize(("number", "page"), [*enumerate(PAGES)], ids=[*PAGES])
def test_axe_finds_nothing_grave_and_nothing_is_cut_on_a_phone(open_page, number, page):
    """Every second page is dark: all share one palette. A page goes through its levels and its parts in turn, until it has shown
    each of both; axe looks at all of the first picture, and then at what has changed. That is up to five looks at a page, of
    some two seconds each."""
    parts = ("", *PAGES[page])
    levels = ["expert", "intermediate"] * 3 if page in NOT_FOR_BEGINNERS else [*LEVELS, *LEVELS[1:]]
    looks = max(len(set(levels)), len(parts))
    opened = open_page(f"/{page}&level={levels[0]}", dark=number % 2 == 1)
    look_over(opened, levels[0])
    for level, part in zip_longest(levels[1:looks], parts[1:], fillvalue=""):
        opened.set_viewport_size(DESKTOP)
        opened.get_by_role("radio", name=level).click()
        settle(opened, level)
        if part:
            opened.get_by_test_id("stMain").get_by_role("radio", name=part, exact=True).click()
        opened.mouse.move(0, 0)
        look_over(opened, level, part)


def look_over(opened, level: str, part: str = "") -> None:
    if part:
        expect(opened).to_have_url(re.compile(re.escape(quote_plus(part))))  # a run has drawn it
    settle(opened, level)
    assert not (grave := violations(opened, ".stMain" if part else "html")), f"{level} {part}:\n" + "\n".join(grave)
    opened.set_viewport_size(PHONE)
    opened.wait_for_function(FITS)


def settle(opened, level: str) -> None:
    """Waits until the page is drawn at that level."""
    expect(opened.locator(".st-key-chosen")).to_contain_text(f"Level: {level}", timeout=60_000)
    expect(opened.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=60_000)
    expect(opened.locator(".hl, .js-plotly-plot").first).to_be_attached(timeout=60_000)  # perhaps folded
    expect(opened.locator("[data-testid=stSidebar]")).to_contain_text("parameters", timeout=60_000)


LEARN = {
    "lessons": "Short lessons beside the live app",
    "lessons?learn=Words+to+know": "Words that the pages use",
    "?lesson=cut&step=4": "Skip a whole layer",
    "?lesson=paper-bert&step=3": "measured here",
}


@pytest.mark.parametrize(("number", "page"), [*enumerate(LEARN)], ids=[*LEARN])
def test_axe_finds_nothing_grave_on_lessons_beside_them_and_in_the_list_of_words(open_page, number, page):
    opened = open_page(f"/{page}", dark=number % 2 == 1)
    expect(opened.locator("[data-testid=stSidebar]")).to_contain_text("parameters", timeout=60_000)
    expect(opened.locator(".stMain").get_by_text(LEARN[page]).first).to_be_visible(timeout=60_000)
    expect(opened.locator("#headlight-style")).to_be_attached()
    assert not (grave := violations(opened)), "\n".join(grave)


def violations(opened, where: str = "html") -> list[str]:
    """Return what axe finds that is grave, once the page has its style and its menu the names of its sections, and nothing is
    faded: the page pales what it is about to draw again."""
    opened.wait_for_selector("#headlight-style", state="attached")
    opened.wait_for_selector("[data-testid=stSidebarNavItems] > [role=group]", state="attached")
    opened.wait_for_function(
        "() => [...document.querySelectorAll('.stElementContainer')].every((one) => getComputedStyle(one).opacity === '1')"
    )
    if not opened.evaluate("() => 'axe' in window"):
        opened.evaluate(Axe().axe_script)
    return [
        f"{violation['id']} ({violation['impact']}): {violation['help']}: {node['html'][:200]}"
        for violation in opened.evaluate(AXE, where)
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]
