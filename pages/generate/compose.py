"""The boards of page "Generate"."""

from __future__ import annotations

from pathlib import Path

from pages.generate import parts
from pages.generate.boards import branches, cache, notices, search
from pages.generate.settings import (
    Above,
    Answers,
    Beam,
    Branches,
    Cached,
    CannotGrow,
    Cost,
    Grown,
    Looped,
    Measured,
    Reading,
    Searching,
    Settings,
    Tree,
    Unsearched,
)
from ui.look import Look
from ui.picture.board import Board, Draft

HERE = Path(__file__).parent


def compose(look: Look, settings: Settings, reading: Reading) -> Board:
    """Return the board of a part of the page for a text and its continuation. It does not read the session, so any thread may
    call it."""
    draft = Draft(HERE, look)
    match reading:
        case CannotGrow():
            notices.add_cannot_grow(draft)
        case Above():
            notices.add_above(draft, settings, reading)
        case Grown():
            parts.add(draft, settings, reading)
        case Looped():
            notices.add_loop(draft, reading)
        case Branches(grown):
            branches.add(draft, grown)
        case Cached(grown):
            cache.add(draft, grown)
        case Cost():
            cache.add_cost(draft, reading)
        case Measured():
            cache.add_measured(draft, reading)
        case Unsearched(button):
            search.add_unsearched(draft, button)
        case Searching(searched):
            search.add_words(draft, settings.strategy, searched)
        case Tree(searched):
            search.add_tree(draft, settings, searched)
        case Answers(searched):
            search.add_answers(draft, searched)
        case Beam(grown):
            parts.add_beam(draft, settings, grown)
    return draft.finished()
