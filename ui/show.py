"""Places views, charts and parts of boards on the page, and turns their errors into messages."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from traceback import extract_tb
from typing import TYPE_CHECKING, Any

import streamlit as st

from models.errors import is_short_of_memory
from ui import state
from ui.device import is_phone, is_touched
from ui.memory import visitors
from ui.serving import assets
from ui.text import plain
from viz.figures.style import on_page
from viz.view import View
from viz.views.board import Part

if TYPE_CHECKING:
    import plotly.graph_objects as go


ROOT = Path(__file__).parents[1]
SHORT_OF_MEMORY = "The server has too little memory for it now. Take a shorter text or a smaller model, or try again later."


@cache
def component(kind: str, uses: tuple[str, ...], html: str) -> Callable[..., Any]:
    name = "_".join(["headlight", kind, *uses])
    return st.components.v2.component(name, html=html, js=assets.loader(kind, uses))


def show(view: View, key: str, chosen: Callable[[], None] | None = None) -> Any:
    """Mount a view. `chosen` is called before the rerun when the visitor chooses something; the choice is in `choice(key)`."""
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


def part(name: str, build: Callable[..., Part], *arguments: Any) -> Part:
    """Build a part of a board; an error becomes a message in its place."""
    try:
        return build(*arguments)
    except Exception as error:
        return Part(name, None, complaint(name, error))


def complaint(name: str, error: Exception, doing: str = "drawn") -> str:
    """Return an error as a sentence, and log its details: of a refusal the line that refuses, for its sentence may hold what a
    visitor typed, and of anything else all."""
    log = logging.getLogger(__name__)
    if place := refused_at(error):
        log.warning("%s could not be %s: refused by %s", name, doing, place)
        return f"{name} could not be {doing}. {error}"
    log.error("%s could not be %s", name, doing, exc_info=error)
    if is_short_of_memory(error):
        return f"{name} could not be {doing}. {SHORT_OF_MEMORY}"
    sentence = str(error) if isinstance(error, ValueError) else "Something went wrong. The server’s log says what."
    return f"{name} could not be {doing}. {sentence}"


def refused_at(error: Exception) -> str:
    """The file and line of ours that refused something in a sentence; "" for an error of another kind."""
    frames = extract_tb(error.__traceback__)
    if not isinstance(error, ValueError) or not frames or not (frames[-1].line or "").startswith("raise "):
        return ""
    file = Path(frames[-1].filename)
    ours = any(file.is_relative_to(ROOT / folder) for folder in ("analysis", "models", "pages", "ui", "viz"))
    return f"{file.relative_to(ROOT)}:{frames[-1].lineno}" if ours else ""


def choice(key: str) -> Any:
    """Return the choice in a view, inside its `chosen` callback; None if the visitor has left its page meanwhile."""
    values = state.selection(key)
    return values.chosen if values else None
