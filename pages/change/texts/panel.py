"""Experiment "Two texts": parts of the model's state for one text are put into the other. Does the answer come back?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pages.change import state as page_state
from pages.change.boards.texts import KEY
from pages.change.compose import compose
from pages.change.settings import Compared, Settings, Unasked
from pages.change.texts import choose, measuring, pairs
from pages.change.texts.comparison import Comparison
from ui import state
from ui.choices import text_boxes
from ui.look import Look, beside
from ui.memory import loaded
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.show import choice, picture

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def panel(look: Look, above: DeltaGenerator) -> Sequence[Picture]:
    look = replace(look, options={})  # of every token: nothing is hidden or joined here
    text = pairs.write(look)
    if why := nothing_to_ask(look, text):
        return mount_all(composed(compose, look, Settings(), Unasked(why)))
    trace = loaded.read(look.model.info.name, text, look.second)
    text_boxes.say_what_is_left_out(state.OTHER_TEXT, text)
    other = replace(look, trace=trace, second=beside(trace, look.second))
    if len(look.model.places(other.trace)) < 1:
        return mount_all(composed(compose, look, Settings(), Unasked("texts unmasked second")))
    comparison = choose.ask(look, other)
    comparison = replace(comparison, cell=choose.cell(comparison))
    return draw(comparison)


def nothing_to_ask(look: Look, text: str) -> str:
    """Return the heading of the words on why these texts cannot be compared; "" where they can."""
    if look.trace.unembed is None:
        return "labels" if look.model.info.labels else "texts headless"
    if not look.model.places(look.trace):
        return "texts unmasked" if look.model.info.mask else "texts maskless"
    if not text.strip() or not look.trace.text.strip():
        return "texts one missing"
    return "texts same" if text == look.trace.text else ""


def draw(comparison: Comparison) -> Sequence[Picture]:
    """Draw the board. Long measurements show their progress above it."""
    effects, patched_logs = None, None
    with picture("The map"):
        effects = measuring.effects(comparison)
    if effects is None:
        return []
    with picture("The patch"):
        patched_logs = measuring.patched_logs(comparison)
    board = composed(compose, comparison.look, Settings(), Compared(comparison, effects, patched_logs))
    mount(board, KEY, react)
    return board.pictures


def react() -> None:
    """Select the square that was clicked."""
    match choice(KEY):
        case {"part": "map", "value": [row, column]}:
            page_state.TEXTS_CELL.set(f"{row}.{column}")
