"""Addresses that people try: a page by the name it has in the menu, also where Streamlit gives that page the bare address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request


async def _first_page(request: Request) -> RedirectResponse:
    return RedirectResponse(f"./?{request.url.query}" if request.url.query else "./")


ROUTES = (Route("/type", _first_page),)
