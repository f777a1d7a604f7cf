"""The first stages, in which a text becomes numbers: the text itself, its pieces, and their ids."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from pages.inside import formulas, pieces, recipes
from pages.inside.naming import starred
from pages.inside.opened import Opened, draw_end
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.text import plain
from viz.tokens import named

HERE = Path(__file__).parent


def draw(look: Look, stage: str) -> list[Picture]:
    """The letters that were typed, of which there is no picture, or how they became pieces."""
    st.caption(formulas.told(HERE, stage, facts(look)))
    return pieces.draw(look) if stage == "pieces" else []


def ids(here: Opened) -> list[Picture]:
    """The pieces with their ids, and the number that was followed back to one of them."""
    return draw_end(here, chips(here.look), facts(here.look))


def facts(look: Look) -> dict[str, object]:
    """Names and numbers that the words are about."""
    tokens = look.trace.read
    at = look.token_among(len(tokens))
    token, named_so = tokens[at], named(look.written(tokens)[at].text)
    text = look.second if look.trace.target else look.trace.text
    return {
        "characters": f"{len(text):,}", "bytes": f"{len(text.encode('utf-8', 'replace')):,}", "tokens": f"{len(tokens):,}",
        "token": starred(f"“{named_so}”"), "id": f"{token.id:,}", "vocabulary": f"{look.model.info.vocabulary:,}",
        "model": plain(look.model.info.name), "each": f"{len(text) / max(1, len(tokens)):.1f}",
    }  # fmt: skip


def chips(look: Look) -> Picture:
    tokens = look.trace.read
    options = {"tokens": [one.text for one in look.written(tokens)], "chosen": look.token_among(len(tokens))}

    def numbers() -> dict[str, Numbers]:
        return {"id": Numbers(np.array([one.id for one in tokens]), ("token",), {"token": [one.text for one in tokens]})}

    title = "The pieces and their ids"
    return Picture(recipes.chips, (look,), options, "inside-open", numbers, title=title, part="chips", takes=("trace",))
