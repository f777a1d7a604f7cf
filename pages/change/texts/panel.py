"""Experiment "Two texts": pieces of what the model made of one text are put into the other. Does the answer come back?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pages.change.texts import choose, figures, pairs
from pages.change.texts import comparison as comparisons
from pages.change.texts.comparison import HERE, Comparison
from ui import state
from ui.choices import boxes, widgets
from ui.look import Look, beside
from ui.memory import loaded
from ui.parts import part
from ui.picture.picture import Picture
from ui.show import choice, picture, show
from ui.text import plain
from ui.words import say, words
from viz import Card, Part, board

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def panel(look: Look, above: DeltaGenerator) -> list[Picture]:
    look = replace(look, options={})  # of every token: nothing is hidden or joined here
    text = pairs.write(look.model.info, look.trace.text)
    if why := nothing_to_ask(look, text):
        say(HERE, why, name=plain(look.model.info.name), mask=plain(look.model.info.mask or ""))
        return []
    trace = loaded.read(look.model.info.name, text, look.second)
    boxes.say_what_is_left_out(state.OTHER_TEXT, text)
    other = replace(look, trace=trace, second=beside(trace, look.second))
    if len(look.model.places(other.trace)) < 1:
        say(HERE, "texts unmasked second", mask=plain(look.model.info.mask))
        return []
    comparison = choose.ask(look, other)
    if look.beginner:
        with above:
            widgets.switch(state.TEXTS_ALL, words(HERE, "texts all"))
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


def draw(comparison: Comparison) -> list[Picture]:
    """Draw the board. Long measurements show their progress above it."""
    pictures, effects, patched_logs = list[Picture](), None, None
    with picture("The map"):
        effects = comparisons.effects(comparison)
    if effects is None:
        return pictures
    with picture("The patch"):
        patched_logs = comparisons.patched_logs(comparison)
    tried = choose.tried_cells(comparison, comparison.cell, bool(state.TEXTS_ALL.get()))
    cards = [
        Card([part("The map", figures.grid, comparison, effects, tried, pictures)], words(HERE, "texts title map"), 7),
        Card([*figures.prediction(comparison, effects, patched_logs, pictures)], words(HERE, "texts title bars"), 5),
        Card([Part("warning", None, words(HERE, "texts warning"))], ""),
    ]
    show(board(cards, "What each piece of one text does in the other", answers="base"), "change-texts", chosen=react)
    return pictures


def react() -> None:
    """Select the square that was clicked."""
    match choice("change-texts"):
        case {"part": "map", "value": [row, column]}:
            state.TEXTS_CELL.set(f"{row}.{column}")
