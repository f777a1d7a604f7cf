"""A room where several processes serve: whoever asks for it comes to the one that has it, from wherever they were before."""

from __future__ import annotations

import os
import re
import signal
import sys
from urllib.request import urlopen

import psutil
from playwright.sync_api import Page, expect

from tests.browser.test_room import WAIT, box, press, strip
from tests.serving import serve_by
from ui.processes.proxy import COOKIE


def home(page: Page) -> str:
    """Which process a browser is with."""
    return next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == COOKIE)


def other_than(url: str, value: str) -> str:
    """The cookie of the other process, which new visitors get too."""
    while True:
        with urlopen(url, timeout=20) as answer:
            cookie_value = re.search(rf"{COOKIE}=(\w+)", answer.headers["Set-Cookie"])[1]
        if cookie_value != value:
            return cookie_value


def test_a_class_meets_in_the_process_of_its_room_and_again_when_that_was_killed(chromium, new_page):
    """It takes a quarter of a minute: three servers start, each of which imports torch."""
    with serve_by([sys.executable, "-m", "ui.command"], "--port={port}", "--processes=2", "--no-open", patience=180) as server:
        lead, first, second = new_page(), new_page(), new_page()
        lead.goto(f"{server.url}/attention?text=The+cat")
        press(lead, "Open a room")
        code = lead.get_by_role("heading", name=re.compile("^[A-Z]{6}$"), level=1).inner_text(timeout=WAIT)
        away = other_than(server.url, home(lead))
        for page in (first, second):
            page.context.add_cookies([{"name": COOKIE, "value": away, "url": server.url}])
        first.goto(f"{server.url}/?room={code}", wait_until="commit")
        second.goto(f"{server.url}/room")
        second.get_by_label("The code of the room").fill(code, timeout=WAIT)
        second.keyboard.press("Enter")
        for page in (first, second):
            expect(strip(page)).to_contain_text("You follow your teacher", timeout=WAIT)
            expect(box(page)).to_have_value("The cat", timeout=WAIT)
            assert home(page) == home(lead)
        os.kill(serving(server.process.pid), signal.SIGKILL)
        for page in (first, second):
            expect(strip(page)).to_contain_text("You follow your teacher", timeout=2 * WAIT)
        expect(strip(lead)).to_contain_text("You lead. 2 here, 2 of them follow.", timeout=2 * WAIT)


def serving(supervisor: int) -> int:
    """The process that has pages open: here all of them are in one."""
    lines = {
        process.pid: sum(line.status == psutil.CONN_ESTABLISHED for line in process.net_connections("tcp"))
        for process in psutil.Process(supervisor).children(recursive=True)
        if process.name() != "caddy"
    }
    return max(lines, key=lines.__getitem__)
