"""The app, served once for the session, and pages in it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from tests.serving import Server
from viz import View

TEXT = "The cat sat on the mat."
expect.set_options(timeout=60_000)  # milliseconds, of which a busy machine needs many


@pytest.fixture(scope="session")
def app_url(chromium: str, server: Server) -> str:
    """The address of the app, where there is a browser to open it in."""
    return server.url


@pytest.fixture
def open_page(app_url: str, new_page: Callable[..., Page]) -> Callable[..., Page]:
    """`open_page(path="/", width=1280, height=800, dark=False)`: the app at that path, for a visitor whom it never saw before.

    It returns as soon as the document is there: wait for the app's own words next, never for a quiet network.
    """

    def open_at(path: str = "/", width: int = 1280, height: int = 800, dark: bool = False) -> Page:
        page = new_page(width, height, dark, hold=app_url + "/_stcore/health")
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


@pytest.fixture(scope="session")
def folders(tmp_path_factory) -> dict[str, Path]:
    """Tiny models with random weights, as folders."""
    from tests.models.networks import network, tokenizer  # here, so that who draws a view does not wait for torch

    made = {}
    for name, kind in {"BERT": "encoder", "BERT without a head": "encoder", "T5": "encoder-decoder"}.items():
        made[name] = tmp_path_factory.mktemp("folders") / name.replace(" ", "-").lower()
        network(name).save_pretrained(made[name])
        tokenizer(kind).save_pretrained(made[name])
    return made


def link(page: str, **choices: str) -> str:
    """The address of a page with these choices."""
    return f"/{page}?" + "&".join(f"{key}={quote(value, safe='')}" for key, value in choices.items())


@pytest.fixture
def open_with(open_page: Callable[..., Page], folders: dict[str, Path]) -> Callable[..., Page]:
    """`open_with("BERT", level="expert", page="attention", text=…)`: a page with that model in use."""

    def open_(name: str, page: str = "", **choices: str) -> Page:
        opened = open_page(link(page, **({"model": str(folders[name]), "text": TEXT} | choices)))
        if not page:
            expect(opened.get_by_text(re.compile("What (is hidden|stands at|comes next)|No predictions")).first).to_be_visible(
                timeout=60_000
            )
        expect(opened.locator("[data-testid=stSidebar]")).to_contain_text(
            re.compile("an encoder|Encoder"), timeout=60_000
        )  # the facts of the model in use
        return opened

    return open_
