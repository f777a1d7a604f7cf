"""No page at any level has a fault that axe-core calls serious or critical, and each fits a telephone."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

GRAVE = ("serious", "critical")
FITS = """() => document.querySelector(".stMain").scrollWidth <= innerWidth
  && [...document.querySelectorAll(".stMain [role=radiogroup]")].every((one) => one.scrollWidth <= one.clientWidth + 1)"""
PAGES = [
    "?",
    "attention?view=Head",
    "attention?view=Reading",
    "attention?view=Model",
    "attention?view=Query-key",
    "attention?view=Heatmap",
    "layers?part=Evolution",
    "layers?part=Statistics",
    "layers?part=Lens",
    "flow?show=Sources",
    "flow?show=Layer%20by%20layer",
    "flow?show=Streams",
    "flow?show=Which%20to%20believe",
    "explain?explain=The%20words",
    "explain?explain=Methods",
    "explain?explain=Which%20to%20believe",
    "heads?layer=L4&head=H5",
    "space?space=Tokens",
    "space?space=Vocabulary",
    "inside?stage=weights",
    "generate?generate-seed=1",
    "build?build=Architecture",
    "build?build=Cost",
    "build?build=Positions",
]
EXPERIMENTS = ["Switch+off", "Two+texts", "What+wrote+it", "Circuit", "Steer"]
PARTS = ["Importance", "Stand-ins", "Weights"]
EXPERTS = [*(f"change?experiment={experiment}" for experiment in EXPERIMENTS), *(f"heads?heads-part={part}" for part in PARTS)]
LEVELS = ["beginner", "intermediate", "expert"]
VISITS = [*enumerate([*PAGES, *EXPERTS, "overview?"])]
AXE = "() => axe.run({ resultTypes: ['violations'], selectors: false }).then((found) => found.violations)"
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


@pytest.mark.parametrize(("number", "page"), VISITS, ids=[page for _, page in VISITS])
def test_axe_finds_nothing_grave_and_nothing_is_cut_on_a_phone(open_page, number, page):
    """Every second page is dark: all share one palette. A page is seen at one level, in turn with its neighbours, which are made
    of the same parts; every fourth page has all of its levels, chosen on the open page."""
    levels = LEVELS[1:] if page in EXPERTS else LEVELS
    first, *others = levels if number % 4 == 0 else [levels[number % len(levels)]]
    opened = open_page(f"/{page}&level={first}", dark=number % 2 == 1)
    look_over(opened, first)
    for level in others:
        opened.set_viewport_size(DESKTOP)
        opened.get_by_role("radio", name=level).click()
        opened.mouse.move(0, 0)
        look_over(opened, level)


def look_over(opened, level: str) -> None:
    settle(opened, level)
    assert not (grave := violations(opened)), f"{level}:\n" + "\n".join(grave)
    opened.set_viewport_size(PHONE)
    opened.wait_for_function(FITS)


def settle(opened, level: str) -> None:
    """Waits until the page is drawn at that level."""
    expect(opened.locator(".st-key-chosen")).to_contain_text(f"Level: {level}", timeout=60_000)
    expect(opened.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning", timeout=60_000)
    expect(opened.locator(".hl, .js-plotly-plot").first).to_be_visible(timeout=60_000)
    expect(opened.locator("[data-testid=stSidebar]")).to_contain_text("parameters", timeout=60_000)


LEARN = {
    "lessons": "Short lessons beside the live app",
    "lessons?learn=Words+to+know": "Words that the pages use",
    "?lesson=attention": "One token looks back",
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


def violations(opened) -> list[str]:
    """What axe finds that is grave, once nothing is faded: the page pales what it is about to draw again."""
    opened.wait_for_function(
        "() => [...document.querySelectorAll('.stElementContainer')].every((one) => getComputedStyle(one).opacity === '1')"
    )
    if not opened.evaluate("() => 'axe' in window"):
        opened.evaluate(Axe().axe_script)
    return [
        f"{violation['id']} ({violation['impact']}): {violation['help']}: {node['html'][:200]}"
        for violation in opened.evaluate(AXE)
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]
