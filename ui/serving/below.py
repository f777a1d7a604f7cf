"""Routes below a base path, where a proxy gives the app a folder of a site: Streamlit puts its own there, and ours beside."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from starlette.routing import Route, WebSocketRoute


def base_path(routes: Sequence[Route | WebSocketRoute]) -> list[Route | WebSocketRoute]:
    """The same routes below `server.baseUrlPath`, if there is one; and as they are too, for who asks the server itself."""
    path = base()
    return [*routes, *(copy(one, path) for one in routes if path)]


def base() -> str:
    """The base path without slashes; "" where there is none."""
    return (st.get_option("server.baseUrlPath") or "").strip("/")


def is_first_page(path: str) -> bool:
    """Whether a path is that of the first page, which has no name."""
    return path == "/" or (bool(base()) and path == f"/{base()}/")


def copy(route: Route | WebSocketRoute, path: str) -> Route | WebSocketRoute:
    if isinstance(route, Route):
        return Route(f"/{path}{route.path}", route.endpoint, methods=list(route.methods or ()))
    return WebSocketRoute(f"/{path}{route.path}", route.endpoint)
