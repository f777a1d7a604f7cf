"""Clicks on a cell of layers × heads: they open that head on page "Attention"; a beginner reads about it here."""

from __future__ import annotations

from pages.layers import state as page_state
from ui import state
from ui.choices import heads
from ui.serving.leaving import open_page


def open_head(layer: int, head: int) -> None:
    """Remember the clicked head for `Settings.clicked`; above the level beginner choose it, so that `follow` opens it."""
    page_state.LAYERS_HEAD.set((int(layer), int(head)))
    if state.level() != "beginner":
        heads.choose(int(layer), int(head))
        page_state.LAYERS_OPEN.set(True)


def follow() -> None:
    """Open page "Attention" if a head was clicked. Call this first in a run."""
    if page_state.LAYERS_OPEN.pop():
        state.VIEW.set("Head")
        open_page("attention")
