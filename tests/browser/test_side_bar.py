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
