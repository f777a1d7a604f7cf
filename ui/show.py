"""The one place where a view of ours becomes a part of the page."""

from __future__ import annotations

from collections.abc import Callable
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


def choice(key: str):
    """What was chosen in the view of that key, inside its `chosen` callback."""
    return st.session_state[key].chosen
