"""The boards of page "Layers"."""

from __future__ import annotations

from pathlib import Path

from pages.layers.boards import evolution, lens, statistics
from pages.layers.settings import Evolution, Likeness, Predictions, Reading, Settings, Statistics
from ui.look import Look
from ui.picture.board import Board, Draft

HERE = Path(__file__).parent


def compose(look: Look, settings: Settings, reading: Reading | None) -> Board:
    """Return the board of a part of the page for a text. It does not read the session, so any thread may call it.

    reading: the results for that part; None for a text of a single token, which has nothing to look at.
    """
    draft = Draft(HERE, look)
    match reading:
        case Evolution():
            evolution.add(draft, settings, reading)
        case Statistics():
            statistics.add(draft, settings, reading)
        case Likeness():
            statistics.add_likeness(draft, settings, reading)
        case Predictions():
            lens.add(draft, settings, reading)
        case None:
            draft.note("single", "single")
    return draft.finished()
