"""Board "Two texts": the effect of each piece of one text on the answer of the other."""

from __future__ import annotations

from pages.change.settings import Compared
from pages.change.texts import figures
from ui.picture.board import Draft
from viz import Card, Part

KEY = "change-texts"


def add(draft: Draft, reading: Compared) -> None:
    """Add the board."""
    comparison, effects = reading.comparison, reading.effects
    cards = [
        Card([draft.part("The map", figures.grid, comparison, effects)], draft.words("texts title map"), 7),
        Card([*figures.prediction(draft, comparison, effects, reading.patched)], draft.words("texts title bars"), 5),
        Card([Part("warning", None, draft.words("texts warning"))], ""),
    ]
    draft.add_cards(KEY, cards, "What each part of one text does in the other", answers="base")
