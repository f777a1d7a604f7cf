"""Headlight with its fragments switched off: each key press reruns the whole page."""

import sys
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))


def whole(function=None, **_):
    """Replace `st.fragment`, with and without its options: the function runs with the page."""
    return function or (lambda function: function)


st.fragment = whole

from ui.serving import address, assets, guard, leaving, sending  # noqa: E402

app = st.App(
    ROOT / "ui" / "door.py",
    routes=[*assets.ROUTES, *address.ROUTES],
    lifespan=sending.lifespan,
    middleware=[Middleware(guard.Guard), Middleware(leaving.Leaving)],
)
