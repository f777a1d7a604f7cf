"""Clicks on the board of page "Type"."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from pages.type.picking import Choice, picked
from pages.type.predicted import earlier
from ui import state
from ui.choices import heads, text_boxes
from ui.choices.token import current_token, keep
from ui.escaping import plain
from ui.look import Look
from ui.memory import loaded
from ui.show import choice

if TYPE_CHECKING:
    from models.language_model import LanguageModel


def react(look: Look) -> None:
    """Handle a click on the board."""
    model, trace, click = look.model, look.trace, choice("board")
    if (picks := picked(replace(look, chosen_token=current_token()), click)) is not None:
        return choose(picks)
    match click:
        case {"part": "chips", "value": position}:
            text_boxes.cover(model, trace, look.select(trace.tokens).places[position])
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
                text_boxes.fill(model, trace, model.places(trace)[number], model.token_text(id))
            else:
                key, place = state.TARGET if trace.target else state.TEXT, earlier(look)
                if place is not None:
                    text_boxes.cut_after(trace.read[place], key)
                text_boxes.append(characters(model, id) if parts else model.token_text(id), key)


def choose(picks: Choice) -> None:
    """Choose a token or a head."""
    match picks:
        case {"token": token}:
            keep(token)
        case {"layer": int(layer), "head": int(head)}:
            heads.choose(layer, head)


def characters(model: LanguageModel, id: int) -> str:
    """Return the text that a token with a part of a character adds to the typed text: the character, completed by the model."""
    typed = state.box_text(state.TEXT).replace(text_boxes.BREAK, "\n")
    text = loaded.characters(model.info.name, typed, id, text_boxes.second_text())
    if not text:
        sign = model.token_text(id)
        st.toast(f"“{sign}” continues a character that the text does not begin, so it adds nothing.", icon=":material/block:")
    return text
