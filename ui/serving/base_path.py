"""Routes below a base path, for a proxy that serves the app in a folder of a site. Streamlit puts only its own routes there."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from starlette.routing import Route, WebSocketRoute


def add_below(routes: Sequence[Route | WebSocketRoute]) -> list[Route | WebSocketRoute]:
    """Return the routes, and the same ones below `server.baseUrlPath`, if there is one."""
    path = base()
    return [*routes, *(copy(route, path) for route in routes if path)]


def base() -> str:
    """Return the base path without slashes; "" where there is none."""
    return (st.get_option("server.baseUrlPath") or "").strip("/")


def is_first_page(path: str) -> bool:
    """Return whether a path is that of the first page, which has no name in addresses."""
    return path == "/" or (bool(base()) and path == f"/{base()}/")


def copy(route: Route | WebSocketRoute, path: str) -> Route | WebSocketRoute:
    if isinstance(route, Route):
        return Route(f"/{path}{route.path}", route.endpoint, methods=list(route.methods or ()))
    return WebSocketRoute(f"/{path}{route.path}", route.endpoint)
