"""Widgets for the sentences and the recipe of an adaptation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.adapt import state as page_state
from ui import state
from ui.choices.widgets import number, one_of
from ui.words import say

if TYPE_CHECKING:
    from models.adapting.recipe import Recipe

MOST, LINKED = 3000, 1000  # characters of the box, and of a link
METHODS = {"LoRA": "lora", "IA3": "ia3", "All weights": "full"}


def sentences(here: Path, disabled: bool) -> str:
    """Place the box for the sentences; return what it holds. It opens with those of the link, if there are any."""
    key = page_state.SENTENCES
    if not disabled and (linked := state.take_linked_value(key)):
        key.set(linked[:MOST])
    typed = st.text_area(
        "Your sentences, one a line",
        key.default,
        key=key.name,
        persist_state="session",
        height=150,
        max_chars=MOST,
        disabled=disabled,
        help="The model learns to end each sentence with its last word. The link of this page carries these sentences.",
    )
    text = (typed or "")[:MOST]
    state.keep(key, text if len(text) <= LINKED else None, key.default)
    if len(text) > LINKED:
        say(here, "too long for a link", most=f"{LINKED:,}")
    return text


def recipe(here: Path, disabled: bool) -> Recipe:
    """Place the choices of the recipe that this level offers. Errors: ValueError, a sentence, for what cannot be."""
    from models.adapting.recipe import RATES, Recipe

    level = state.level()
    if level == "beginner":
        state.later(
            "intermediate", page_state.METHOD, page_state.PLACE, page_state.adapt_key("rank"), page_state.adapt_key("steps")
        )
    if level != "expert":
        state.later("expert", page_state.adapt_key("rate"), page_state.adapt_key("seed"))
    if level == "beginner":
        return Recipe()
    values: dict = {}
    method = one_of(page_state.METHOD, page_state.METHOD.values, "the method", disabled=disabled)
    state.keep(page_state.METHOD, method, page_state.METHOD.values[0])
    values["method"] = METHODS[method]
    say(here, f"method {METHODS[method]}")
    if method != "All weights":
        place = one_of(page_state.PLACE, page_state.PLACE.values, "the place", label="What may change", disabled=disabled)
        state.keep(page_state.PLACE, place, page_state.PLACE.values[0])
        values["place"] = place.lower()
    usual = Recipe(**values)
    if method == "LoRA":
        values["rank"] = number(page_state.adapt_key("rank"), "Rank", 1, 64, usual.rank, 1, disabled=disabled)
    values["steps"] = number(page_state.adapt_key("steps"), "Steps", 3, 300, usual.steps, 3, disabled=disabled)
    if level == "expert":
        rate = RATES[values["method"]]
        help_text = f"0: the usual one of this method, {rate:g}."
        chosen = number(
            page_state.adapt_key("rate"), "Learning rate", 0.0, 1.0, 0.0, 0.0005, format="%.5g", disabled=disabled, help=help_text
        )
        values["rate"] = chosen or rate
        values["seed"] = number(page_state.adapt_key("seed"), "Seed", 0, 2**31 - 1, 0, 1, disabled=disabled)
    return Recipe(**values)
