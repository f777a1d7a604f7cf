"""Addresses that people try: a page by its name in the menu, also the first page, to which Streamlit gives the bare address, and
a lesson by its name alone."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.responses import RedirectResponse
from starlette.routing import Route

from ui.serving import base_path

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send


async def _first_page(request: Request) -> RedirectResponse:
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


ROUTES = (Route("/type", _first_page),)


class Address:
    """ASGI middleware that leads a link to a lesson to the page of its step.

    Streamlit could change the page as well, but would leave an entry in the browser's history that nobody chose: Back would go to
    a page without the lesson.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        there = ""
        if scope["type"] == "http" and base_path.is_first_page(scope["path"]) and b"lesson=" in scope["query_string"]:
            from ui.lessons import course  # it brings along what its questions ask of models: a server answers before it is there

            there = course.address(dict(parse_qsl(scope["query_string"].decode("latin-1"))))
        await (RedirectResponse(there) if there else self.app)(scope, receive, send)
