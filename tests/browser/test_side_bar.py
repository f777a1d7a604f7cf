"""The side bar has room for what stands in it."""

from __future__ import annotations

from playwright.sync_api import expect

SEEN = """group => { const end = group.getBoundingClientRect().right;
  return [...group.children].every((one) => one.getBoundingClientRect().right <= end + 0.5 && one.scrollWidth <= one.clientWidth)
    && getComputedStyle(group).maskImage === "none"; }"""


def test_every_level_can_be_read(open_page):
    page = open_page("/?level=expert")
    levels = page.get_by_test_id("stSidebar").get_by_role("radiogroup", name="Level")
    expect(levels.get_by_role("radio")).to_have_count(3, timeout=60_000)
    page.wait_for_function(f"({SEEN})(document.querySelector('[data-testid=stSidebar] [role=radiogroup]'))")


def test_level_model_room_layer_and_head_are_in_sight_in_a_low_window(open_page):
    page = open_page("/attention?level=intermediate", height=768)
    bar = page.get_by_test_id("stSidebar")
    choices = [bar.get_by_role("combobox", name=name) for name in ("Model", "Layer", "Head")]
    for choice in [bar.get_by_role("radiogroup", name="Level"), *choices, bar.get_by_role("button", name="Open a room")]:
        expect(choice).to_be_in_viewport(ratio=1, timeout=60_000)
    pages = page.get_by_test_id("stSidebarNavLink")
    heights = pages.evaluate_all("links => links.map((link) => link.getBoundingClientRect().height)")
    assert min(heights) >= 24  # pixels, the least that WCAG 2.2 asks for
