"""A teacher prepares a playlist, saves it, and plays it in another room on another day."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.browser.places import in_menu
from tests.browser.test_accessible import violations
from tests.browser.test_room import press, strip

WAIT = 60_000


def expect_page(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible(timeout=WAIT)


def choose(page: Page, menu: str, option: str) -> None:
    """Choose in a menu. A run that was asked for before it opened closes it: then it is opened again, as a person would."""
    place = page.get_by_role("option", name=option)
    for _ in range(10):
        if not place.is_visible():
            page.get_by_role("combobox", name=menu).click()
        try:
            return place.click(timeout=3000)
        except PlaywrightTimeout:
            continue
    raise AssertionError(f"{menu} does not offer {option}")


def test_a_playlist_is_saved_and_replayed(open_page, tmp_path):
    page = open_page("/attention?level=expert&layer=L2&head=H3&view=Reading&text=The+cat+sat")
    press(page, "Open a room")
    press(page, "Back to where the class is")
    press(page, "Add what I see")
    expect(page.get_by_text("Added as entry 1.")).to_be_visible()
    in_menu(page, "Type").click()
    expect_page(page, "Type")
    press(page, "Add what I see")
    expect(page.get_by_text("Added as entry 2.")).to_be_visible()
    in_menu(page, "Room").click()
    page.get_by_text("Ask the class a question").click(timeout=WAIT)
    page.get_by_label("The question").fill("Where?")
    page.get_by_label("The question").press("Tab")
    page.get_by_label("The choices, one in a line").fill("on the mat\nnowhere")
    page.get_by_label("The choices, one in a line").press("Tab")
    choose(page, "The right choice", "on the mat")
    press(page, "Put it into the playlist")
    expect(page.get_by_text("Asks: Where?")).to_be_visible()
    with page.expect_download() as taken:
        press(page, "Save the playlist")
    saved = tmp_path / "playlist.json"
    saved.write_bytes(taken.value.path().read_bytes())

    another = open_page("/type")
    press(another, "Open a room")
    another.get_by_text("Playlist: pages that you prepared").click(timeout=WAIT)
    with another.expect_file_chooser() as chooser:
        press(another, "Open a playlist …")
    chooser.value.set_files(saved)
    entry = another.get_by_role("button", name="1. Attention · writer · L2 H3 · “The cat sat”")
    expect(entry).to_be_visible()
    assert not (grave := violations(another)), "\n".join(grave)
    entry.click()
    expect_page(another, "Attention")
    expect(another.get_by_label("Your text")).to_have_value("The cat sat")
    expect(another.get_by_role("radio", name="Reading")).to_be_checked()
    press(another, "Next, 2 of 2: Type")
    expect_page(another, "Type")
    press(another, "Ask the question")
    expect(strip(another).locator(".bars li")).to_have_text(["on the mat0", "nowhere0"])
    press(another, "Show the right answer")
    expect(strip(another).locator(".bars li")).to_have_text(["✓ on the mat0", "nowhere0"])
    expect(strip(another)).to_contain_text("The right answer: on the mat.")
    assert not (grave := violations(another)), "\n".join(grave)
