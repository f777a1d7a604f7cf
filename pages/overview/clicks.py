"""Clicks on the picture of page "Overview"."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.overview.compose import KEY, position_of
from pages.overview.picking import picked
from pages.overview.stations import PAGES, answering, choices
from ui import state
from ui.choices import heads, text_boxes
from ui.choices.token import current_token, keep
from ui.escaping import plain
from ui.lexicon.follow import go
from ui.look import Look
from ui.show import choice


def react(look: Look) -> None:
    """React to a click on the picture."""
    click = choice(KEY)
    match picked(replace(look, chosen_token=current_token()), click):
        case {"token": token}:
            return keep(token)
        case {"layer": int(layer), "head": int(head)}:
            return heads.choose(layer, head)
    match click:
        case {"open": str(station)}:
            open_station(look, station)
        case {"token": [_, position]} if look.model.info.mask and look.trace.unembed:
            text_boxes.cover(look.model, look.trace, position)
        case {"outcome": int(id)}:
            take_outcome(look, id)


def open_station(look: Look, station: str) -> None:
    """Open the page that shows a station, with the same choices."""
    page = answering(look) if station == "chances" and look.trace.predicts else PAGES.get(station)
    if page is None:
        return
    go(page, choices(look, station))
    state.run_whole_page_next()


def take_outcome(look: Look, id: int) -> None:
    """Put a prediction into the text: at its end, after an earlier token, or in the place of the mask."""
    model, trace, position = look.model, look.trace, position_of(look)
    if model.info.labels:
        parts = "patches" if "image" in model.info.reads else "words"
        st.toast(f"Page “Explain” shows which {parts} speak for “{plain(model.outcome(id))}”.", icon=":material/lightbulb:")
    elif model.is_special(id):
        sign = plain(model.token_text(id))
        st.toast(f"“{sign}” is a special token, not text, so it cannot be added.", icon=":material/block:")
    elif model.vocabulary.text(id)[1]:
        st.toast(f"“{plain(model.token_text(id))}” is only a part of a character.", icon=":material/block:")
    elif model.info.kind == "encoder":
        text_boxes.fill(model, trace, position, model.token_text(id))
    else:
        key = state.TARGET if trace.target else state.TEXT
        if position < len(trace.read) - 1:
            text_boxes.cut_after(trace.read[position], key)
        text_boxes.append(model.token_text(id), key)
