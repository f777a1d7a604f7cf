"""Places views and charts on the page, and turns their errors into messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui import state
from ui.device import is_phone, is_touched
from ui.escaping import plain
from ui.memory import visitors
from ui.parts import complaint
from ui.serving import assets
from viz.figures.style import on_page
from viz.view import View

if TYPE_CHECKING:
    import plotly.graph_objects as go


@cache
def component(kind: str, uses: tuple[str, ...], html: str) -> Callable[..., Any]:
    name = "_".join(["headlight", kind, *uses])
    return st.components.v2.component(name, html=html, js=assets.loader(kind, uses))


def show(view: View, key: str, chosen: Callable[[], None] | None = None) -> Any:
    """Mount a view. `chosen` is called before the rerun when the visitor chooses something; `choice(key)` returns the choice."""
    mount = component(view.kind, view.uses, view.assets().html)
    return mount(key=key, data=view.data, on_chosen_change=visitors.hold(chosen or (lambda: None)))


def show_chart(figure: go.Figure, key: str, **options: Any) -> None:
    """Place a Plotly figure, in the colours of the visitor's page."""
    if is_touched():
        options.pop("on_select", None)  # Streamlit would have the chart hold every finger that wants to move the page
    if callable(options.get("on_select")):
        options["on_select"] = visitors.hold(options["on_select"])
    config = {"displaylogo": False} | ({"displayModeBar": False} if is_touched() else {})  # there it would lie over titles
    coloured = on_page(figure, dark=st.context.theme.type == "dark", touched=is_touched(), narrow=is_phone())
    st.plotly_chart(coloured, key=key, **({"config": config} | options))


@contextmanager
def picture(name: str) -> Iterator[None]:
    """Show an error in one picture as a message in its place; the other pictures stay."""
    try:
        yield
    except Exception as error:
        st.error(plain(complaint(name, error)), icon=":material/report:")


def choice(key: str) -> Any:
    """Return the choice in a view, inside its `chosen` callback; None if the visitor has left its page meanwhile."""
    values = state.selection(key)
    return values.chosen if values else None
