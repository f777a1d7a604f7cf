"""The boards of page "Space": the tokens of the text, one word in several texts, and the vocabulary."""

from __future__ import annotations

from pathlib import Path

from pages.space.boards import contexts, tokens, vocabulary
from pages.space.settings import (
    Analogy,
    AnalogyByChance,
    Map,
    Missing,
    Nearest,
    NearestByChance,
    Reading,
    Settings,
    Tokens,
    Word,
)
from ui.look import Look
from ui.picture.board import Board, Draft

HERE = Path(__file__).parent


def compose(look: Look, settings: Settings, reading: Reading) -> Board:
    """Return the board of a part of the page, for a text or the vocabulary. It does not read the session, so any thread may call
    it.
    """
    draft = Draft(HERE, look)
    match reading:
        case Tokens():
            tokens.add(draft, settings, reading)
        case Missing(word):
            contexts.add_missing(draft, word)
        case Word():
            contexts.add(draft, settings, reading)
        case Map():
            vocabulary.add_map(draft, settings, reading)
        case Nearest(word):
            vocabulary.add_nearest(draft, settings, word)
        case NearestByChance():
            vocabulary.add_nearest_chance(draft, settings, reading)
        case Analogy(terms):
            vocabulary.add_analogy(draft, settings, terms)
        case AnalogyByChance():
            vocabulary.add_analogy_chance(draft, settings, reading)
    return draft.finished()
