"""Clicks on the board of page "Type"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.type.predicted import earlier
from ui import state
from ui.choices import boxes, heads
from ui.choices.token import press
from ui.look import Look
from ui.memory import loaded
from ui.show import choice
from ui.text import plain

if TYPE_CHECKING:
    from models.language_model import LanguageModel


def react(look: Look) -> None:
    """React to a click on the board."""
    model, trace, kind = look.model, look.trace, look.kind
    read = {"cross": trace.target, "decoder": trace.target}.get(kind, trace.tokens)
    match choice("board"):
        case {"part": "chips", "value": position} if model.info.mask and trace.unembed:
            boxes.cover(model, trace, look.select(trace.tokens).places[position])
        case {"part": "chips" | "target" as name, "value": position}:
            tokens = trace.tokens if name == "chips" else trace.target
            row = look.select(tokens).places[position] - look.attention.chooses  # a word means the row that chose it
            if tokens == read and row >= 0:
                press(row, look.newest)
        case {"part": "reading", "value": position}:
            position -= len(look.scope.keys.tokens) if kind == "cross" else 0
            if position >= 0:
                press(look.scope.queries.groups[position][0], look.newest)
        case {"part": "bars", "value": {"id": id}} if model.info.labels:
            why = f"Page “Explain” shows which tokens speak for “{plain(model.outcome(id))}”."
            st.toast(why, icon=":material/lightbulb:")
        case {"part": str() as name, "value": {"id": id}} if model.is_special(id):
            sign = model.token_text(id)
            st.toast(f"“{plain(sign)}” is a special token, not text, so it cannot be added.", icon=":material/block:")
        case {"part": str() as name, "value": {"id": id}}:
            parts = model.vocabulary.text(id)[1]
            if model.info.kind == "encoder" and parts:
                sign = model.token_text(id)
                st.toast(f"“{sign}” is only a part of a character, so it cannot fill the gap.", icon=":material/block:")
            elif model.info.kind == "encoder":
                number = int(name.removeprefix("bars") or 0)
                boxes.fill(model, trace, model.places(trace)[number], model.token_text(id))
            else:
                key, place = state.TARGET if trace.target else state.TEXT, earlier(look)
                if place is not None:
                    boxes.cut_after(trace.read[place], key)
                boxes.append(characters(model, id) if parts else model.token_text(id), key)
        case {"part": "heads", "value": [layer, head]}:
            heads.choose(layer, head)


def characters(model: LanguageModel, id: int) -> str:
    """Return what a token with a part of a character adds to the typed text: the character, as the model completes it."""
    text = loaded.characters(model.info.name, state.box_text(state.TEXT).replace(boxes.BREAK, "\n"), id, boxes.second_text())
    if not text:
        sign = model.token_text(id)
        st.toast(f"“{sign}” continues a character that the text does not begin, so it adds nothing.", icon=":material/block:")
    return text
