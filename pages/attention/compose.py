"""The board of page "Attention": a view of one text, for a long text with its map, and sentences on it."""

from __future__ import annotations

from pathlib import Path

from pages.attention import wording
from pages.attention.settings import Settings
from pages.attention.views import PICTURES
from pages.attention.views.head import heads_seen
from pages.attention.window import MAP, map_of, needs_window, seen_through
from ui.look import Look
from ui.picture.board import Board, Draft

HERE = Path(__file__).parent
PICTURE = "picture"  # the key of a sentence in place of a picture


def compose(look: Look, settings: Settings) -> Board:
    """Return the board of a text. A comparison needs a second text, so `compare` makes that one.

    It does not read the session, so any thread may call it.
    """
    look = through_single(look, settings)
    draft, seen, view = Draft(HERE, look), look, settings.view
    with draft.attempt(f"The view “{view}”", PICTURE):
        if needs_window(look, view):
            seen = seen_through(look, settings.window, view)
            draft.contents[MAP] = map_of(draft, seen)
        picture = PICTURES[view](draft, seen, settings)
        draft.add(picture, PICTURE)
    with draft.attempt("The summary", wording.WORDS):
        wording.say(draft, seen, view, settings.shade, heads_seen(seen, settings))
    return draft.finished()


def through_single(look: Look, settings: Settings) -> Look:
    """Return the look through the head that a beginner chose, if the layer has it."""
    single, count = settings.single, look.attention.counts[look.layer]
    return look if single is None or not look.beginner or single >= count else look.at(look.layer, single)


def compose_map(look: Look, seen: Look) -> Board:
    """Return the map of a long text alone, for a comparison. seen: the part of the text that is compared."""
    draft = Draft(HERE, look)
    draft.contents[MAP] = map_of(draft, seen)
    return draft.finished()
