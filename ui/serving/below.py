"""Routes below a base path, where a proxy gives the app a folder of a site: Streamlit puts its own there, and ours beside."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from starlette.routing import Route, WebSocketRoute


def base_path(routes: Sequence[Route | WebSocketRoute]) -> list[Route | WebSocketRoute]:
    """The same routes below `server.baseUrlPath`, if there is one; and as they are too, for who asks the server itself."""
    path = (st.get_option("server.baseUrlPath") or "").strip("/")
    return [*routes, *(copy(one, path) for one in routes if path)]


def copy(route: Route | WebSocketRoute, path: str) -> Route | WebSocketRoute:
    if isinstance(route, Route):
        return Route(f"/{path}{route.path}", route.endpoint, methods=list(route.methods or ()))
    return WebSocketRoute(f"/{path}{route.path}", route.endpoint)
