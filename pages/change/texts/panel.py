"""Experiment "Two texts": what the model made of one text is put into the other, piece by piece. Does the answer come back?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pages.change.texts import asked as asking
from pages.change.texts import choose, pairs, shown
from pages.change.texts.asked import HERE, Asked
from ui import state
from ui.choices import boxes, widgets
from ui.look import Look, beside
from ui.memory import loaded
from ui.picture.picture import Picture
from ui.show import choice, part, picture, show
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
    asked = choose.ask(look, other)
    if look.beginner:
        with above:
            widgets.switch(state.TEXTS_ALL, words(HERE, "texts all"))
    asked = replace(asked, cell=choose.cell(asked))
    return draw(asked)


def nothing_to_ask(look: Look, text: str) -> str:
    """Under which heading it stands why these texts cannot be compared; "" where they can."""
    if look.trace.unembed is None:
        return "labels" if look.model.info.labels else "texts headless"
    if not look.model.places(look.trace):
        return "texts unmasked" if look.model.info.mask else "texts maskless"
    if not text.strip() or not look.trace.text.strip():
        return "texts one missing"
    return "texts same" if text == look.trace.text else ""


def draw(asked: Asked) -> list[Picture]:
    """The board. What takes long stands above it while it is under way."""
    pictures, found, patched = list[Picture](), None, None
    with picture("The map"):
        found = asking.effects(asked)
    if found is None:
        return pictures
    with picture("The patch"):
        patched = asking.patched(asked)
    tried = choose.tried(asked, asked.cell, bool(state.TEXTS_ALL.get()))
    cards = [
        Card([part("The map", shown.grid, asked, found, tried, pictures)], words(HERE, "texts title map"), 7),
        Card([*shown.prediction(asked, found, patched, pictures)], words(HERE, "texts title bars"), 5),
        Card([Part("warning", None, words(HERE, "texts warning"))], ""),
    ]
    show(board(cards, "What each piece of one text does in the other", answers="base"), "change-texts", chosen=react)
    return pictures


def react() -> None:
    """A press on a square."""
    match choice("change-texts"):
        case {"part": "map", "value": [row, column]}:
            state.TEXTS_CELL.set(f"{row}.{column}")
