"""The app, served once for the session, and pages in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page

from tests.serving import serve


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
