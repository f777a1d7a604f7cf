"""The one place where a view of ours becomes a part of the page."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import streamlit as st

from viz.view import View


@cache
def component(view: type | str, html: str, css: str, js: str):
    return st.components.v2.component(f"headlight_{view}", html=html, css=css, js=f"{js}\nexport default mount;\n")


def show(view: View, key: str, chosen: Callable[[], None] | None = None):
    """Mount a view. `chosen` is called before the rerun when the visitor chooses something; the choice is in `choice(key)`."""
    assets = view.assets()
    mount = component(view.kind, assets.html, assets.css, assets.js)
    return mount(key=key, data=view.data, on_chosen_change=chosen or (lambda: None))


@contextmanager
def picture(name: str) -> Iterator[None]:
    """What goes wrong in one picture becomes a sentence in its place; the others stand."""
    try:
        yield
    except Exception as error:
        logging.getLogger(__name__).exception("%s could not be drawn", name)
        sentence = str(error) if isinstance(error, ValueError) else "Something in it went wrong; the server's log says what."
        st.error(f"{name} could not be drawn. {sentence}", icon=":material/report:")


def choice(key: str):
    """What was chosen in the view of that key, inside its `chosen` callback."""
    return st.session_state[key].chosen
