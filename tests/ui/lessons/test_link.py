"""A link to a lesson: the server sends the browser to the page of its step."""

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from ui.serving import base_path
from ui.serving.address import Address


def test_the_server_sends_a_browser_to_the_page_of_a_step_and_leaves_other_links_alone(monkeypatch):
    async def page(scope, receive, send):
        await PlainTextResponse(scope["path"])(scope, receive, send)

    browser = TestClient(Address(page), follow_redirects=False)
    assert browser.get("/?lesson=tokens").headers["location"].startswith("./?lesson=tokens&text=")
    for path in ("/", "/?lesson=nothing", "/attention?lesson=tokens", "/?lesson=tokens&text=A"):
        assert browser.get(path).text == path.partition("?")[0]
    assert browser.get("/lens/?lesson=tokens").text == "/lens/"
    monkeypatch.setattr(base_path, "base", lambda: "lens")
    assert browser.get("/lens/?lesson=tokens").headers["location"].startswith("./?lesson=tokens&text=")
    assert browser.get("/other/?lesson=tokens").text == "/other/"
