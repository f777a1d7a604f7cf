"""The app, served once for the session, and pages in it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from tests.serving import serve
from viz import View


@pytest.fixture(scope="session")
def app_url(chromium: str) -> Iterator[str]:
    """The address of the app. At the end of the session this fails if the server reached beyond this machine."""
    with serve() as server:
        yield server.url


@pytest.fixture
def open_page(app_url: str, new_page: Callable[..., Page]) -> Callable[..., Page]:
    """`open_page(path="/", width=1280, height=800, dark=False)`: the app at that path, in a browser that never saw it before.

    It returns as soon as the document is there: wait for the app's own words next, never for a quiet network.
    """

    def open_at(path: str = "/", width: int = 1280, height: int = 800, dark: bool = False) -> Page:
        page = new_page(width, height, dark)
        page.goto(app_url + path, wait_until="domcontentloaded")
        return page

    return open_at


@pytest.fixture
def draw(new_page: Callable[..., Page]) -> Callable[..., Page]:
    """`draw(view, width=…, dark=…)`: a view as a page of its own; what it tells is collected in `told` as {name, value}."""

    def open_view(view: View, **kwargs) -> Page:
        page = new_page(**kwargs)
        page.add_init_script("window.told = []; addEventListener('headlight', ({ detail }) => told.push(detail))")
        page.goto("data:text/html;base64," + base64.b64encode(view.to_html().encode()).decode())
        return page

    return open_view


@pytest.fixture
def redraw() -> Callable[[Page, View], None]:
    """`redraw(page, view)`: other data of the same kind on the page that is drawn."""

    def again(page: Page, view: View) -> None:
        data = base64.b64encode(view.data).decode()
        page.evaluate("text => headlight.draw(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)))", data)

    return again
