"""A press on a cell of layers × heads: it opens that head on page "Attention"; a beginner reads about it here."""

from __future__ import annotations

from ui import state
from ui.choices import heads
from ui.serving.leaving import open_page


def pressed(layer: int, head: int) -> None:
    """Keep the head that was pressed, for `last_pressed`, or choose it, so that `follow` opens it."""
    state.LAYERS_HEAD.set((int(layer), int(head)))
    if state.level() != "beginner":
        heads.choose(int(layer), int(head))
        state.LAYERS_OPEN.set(True)


def follow() -> None:
    """Open page "Attention" if a head was pressed. Call it first thing in a run."""
    if state.LAYERS_OPEN.pop():
        state.VIEW.set("Head")
        open_page("attention")


def last_pressed(layers: int, heads: int) -> tuple[int, int] | None:
    """The head that a beginner pressed last, where this model has it."""
    layer, head = state.LAYERS_HEAD.get()
    return (layer, head) if 0 <= layer < layers and 0 <= head < heads and state.level() == "beginner" else None
