"""A page that lost its server: it comes back by itself, with the text that was typed, and answers the next key."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from tests.line import Line, line_to
from tests.serving import Watched, free_port, serve

START = 60_000  # milliseconds that a fresh server may take


def stands_and_answers(page: Page, text: str, more: str) -> str:
    """The page has this text and what follows from it, and a key that is pressed is answered."""
    # The board of the server before goes with the end of the first run.
    box, chips = page.get_by_label("Your text"), page.locator("[data-part=chips]").last
    expect(chips).to_contain_text(text.split()[-1], timeout=START)
    expect(box).to_have_value(text, timeout=START)
    expect(box).to_be_enabled()
    box.press("End")
    box.press_sequentially(more, delay=30)
    expect(box).to_have_value(text + more)
    expect(chips).to_contain_text(more.split()[-1], timeout=START)
    expect(old_picture(page)).to_have_count(0)
    return text + more


def cut(page: Page, line: Line) -> None:
    """Cut the line, and wait until the page connects again: until it has noticed, its box takes letters that then are lost."""
    with page.expect_websocket(lambda socket: socket.url.endswith("/_stcore/stream"), timeout=START):
        line.cut()


def old_picture(page: Page) -> Locator:
    """The notice that the picture is of an earlier text."""
    return page.get_by_text("older than what you typed")


def test_a_line_is_cut_a_phone_sleeps_and_a_server_is_killed_and_what_was_typed_is_there_again(browser):
    """It takes twenty seconds: two servers start, and a page waits before it tries to connect again."""
    port = free_port()
    watched = Watched(browser)
    with line_to(port) as line:
        with serve(port=port) as first:
            page = watched.page()
            page.goto(f"{line.url}/?text=Once+upon", wait_until="domcontentloaded")
            text = stands_and_answers(page, "Once upon", " a time")
            cut(page, line)
            text = stands_and_answers(page, text, " there")
            line.sleep()
            page.get_by_label("Your text").press_sequentially(" was", delay=30)
            expect(old_picture(page)).to_be_visible()
            expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-connection-state", "CONNECTED")
            cut(page, line)
            text = stands_and_answers(page, text + " was", " one")
            page.get_by_label("Your text").press_sequentially(" old", delay=30)
            first.process.kill()
            first.process.wait()
        expect(page.get_by_text("Connection error").or_(page.get_by_label("Your text"))).to_be_visible()
        with serve(port=port):
            stands_and_answers(page, text + " old", " king")
            watched.check()
            page.close()
    watched.close()
