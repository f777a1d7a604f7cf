"""Where something stands on the page, and how a chance is written there."""

from __future__ import annotations

from playwright.sync_api import FloatRect, Locator, Page

from viz.numbers import percent, whole_percent

APART = 300  # milliseconds between two looks: longer than what a page waits before it scrolls to what was opened


def box_at_rest(locator: Locator) -> FloatRect:
    """The frame of an element, in pixels of the window, once it is in sight and no longer moves.

    Raises AssertionError where it still moves after twenty looks."""
    locator.scroll_into_view_if_needed()
    before = None
    for _ in range(20):
        box = locator.bounding_box()
        if box and box == before:
            return box
        before = box
        locator.page.wait_for_timeout(APART)
    raise AssertionError(f"It does not come to rest: {before}")


def in_menu(page: Page, title: str) -> Locator:
    """The link to a page in the side bar; a word of its text may be a link of the same name."""
    return page.get_by_role("navigation", name="App pages").get_by_role("link", name=title, exact=True)


def chance(page: Page, probability: float) -> str:
    """Return a probability as the page's level writes it: beginners read whole per cent."""
    beginner = page.get_by_test_id("stSidebar").get_by_role("radio", name="beginner")
    return whole_percent(probability) if beginner.is_checked() else percent(probability)
