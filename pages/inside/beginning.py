"""The first stages, in which a text becomes numbers: the text itself, its pieces, and their ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import inside
from analysis.scopes import typed
from pages.inside import formulas, pieces, recipes
from pages.inside.detail import OpenStage, draw_end
from pages.inside.naming import starred
from pages.inside.pieces.sentences import quantity
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.text import plain
from ui.words import words
from viz.tokens import named

HERE = Path(__file__).parent


def draw(look: Look, stage: str) -> list[Picture]:
    """Draw the stage of the typed text, which has no picture, or the stage of its pieces."""
    st.caption(formulas.explanation(HERE, stage, of_text(look)))
    return pieces.draw(look) if stage == "pieces" else []


def ids(here: OpenStage) -> list[Picture]:
    """Draw the pieces with their ids, and the number that was followed back to one of them."""
    look, tokens = here.look, list(here.way.tokens)
    at = look.token_among(len(tokens))
    facts = {"token": starred(f"“{named(look.spell_tokens(tokens)[at].text)}”"), "id": f"{tokens[at].id:,}"}
    return draw_end(here, chips(look, here.way), {**facts, "vocabulary": f"{look.model.info.vocabulary:,}"})


def of_text(look: Look) -> dict[str, object]:
    """Return the names and numbers in the words about the text and its pieces. Only what was typed counts, and of two texts the
    source; special tokens that the model adds are named."""
    text, tokens = look.trace.text, look.spell_tokens(look.trace.tokens)
    places = typed(look.trace.tokens)
    added = list(dict.fromkeys(plain(named(token.text)) for i, token in enumerate(tokens) if i not in set(places)))
    counted = quantity(len(places) if text else 0, "piece" if look.beginner else "token")  # of no text only signs are left
    signs = words(HERE, "signs", signs=" and ".join(f"“{sign}”" for sign in added)) + " " if added else ""
    return {
        "characters": f"{len(text):,}", "bytes": f"{len(text.encode('utf-8', 'replace')):,}", "tokens": counted,
        "model": plain(look.model.info.name), "each": f"{len(text[look.trace.cut :]) / max(1, len(places)):.1f}", "signs": signs,
    }  # fmt: skip


def chips(look: Look, way: inside.Way) -> Picture:
    tokens = list(way.tokens)
    options = {
        "stack": way.stack,
        "tokens": [token.text for token in look.spell_tokens(tokens)],
        "chosen": look.token_among(len(tokens)),
    }

    def numbers() -> dict[str, Numbers]:
        return {"id": Numbers(np.array([token.id for token in tokens]), ("token",), {"token": [token.text for token in tokens]})}

    title = "The pieces and their ids"
    return Picture(recipes.chips, (look,), options, "inside-open", numbers, title=title, part="chips", takes=("trace",))
