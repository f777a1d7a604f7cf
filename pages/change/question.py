"""Menus for the prediction that experiments ask about, and for the prediction to compare it with."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from models.numbers.softmax import softmax
from models.tokens import Prediction
from models.trace import Trace
from pages.change import figures
from pages.change import state as page_state
from pages.change.asked import Question
from ui import state
from ui.escaping import plain
from ui.look import Look
from ui.state import Key
from ui.words import words
from viz import percent
from viz.tokens import listed, named

HERE = Path(__file__).parent
PREDICTIONS = 20  # in the menu
ANY = -1  # in place of a token: any other


def nothing_to_ask(look: Look) -> str:
    """Return the heading of the words on why no prediction can be asked about; "" where the model predicts a token."""
    if look.trace.unembed is None:  # labels are no words: nothing that a part writes is read as one
        return look.without_words
    if figures.predicted_position(look) is None:
        return "unmasked" if look.model.info.mask else "maskless"
    return ""


def ask(look: Look, trace: Trace) -> Question:
    """Place the menus, and return the question. It is asked where the model predicts a token."""
    position = figures.predicted_position(look)
    assert position is not None, "asked where the model predicts"
    logits = trace.logits_at(position)
    assert logits is not None, "it predicts there"
    best = look.model.top(logits, position, PREDICTIONS)
    left, right = st.columns(2)
    with left:
        token = pick(look, trace, position, page_state.CHANGE_WORD, words(HERE, "question word"), best, best[0].id)
    with right:
        against = pick(look, trace, position, page_state.CHANGE_AGAINST, words(HERE, "question against"), best, ANY)
    if against == token:
        st.info(f"“{plain(named(look.model.token_text(token)))}” cannot be compared with itself, so the page explains it alone.")
    return Question(look, trace, position, token, None if against in (ANY, token) else against)


def pick(look: Look, trace: Trace, position: int, key: Key, title: str, best: list[Prediction], default: int) -> int:
    """Place a menu of the likeliest tokens, which takes any typed token too, and return the choice. A link has its text, unless
    it is the default."""
    if (link_text := state.take_linked_value(key)) is not None:
        key.set(link_text)
    spell, text = look.model.token_text, key.get()
    chances = {prediction.id: prediction.probability for prediction in best}
    ids_by_text = {spell(id).strip(): id for id in reversed(chances)}
    chosen = default if text is None else ids_by_text.get(text.strip())
    if chosen is None:
        chosen = token_of_text(look, trace, position, text)
    if chosen not in (ANY, *chances):
        logits = trace.logits_at(position)
        assert logits is not None, "it predicts there"
        chances[chosen] = float(softmax(logits)[chosen])
    names = {ANY: "any other"} if default == ANY else {}
    names |= {id: f"{listed(spell(id))} ({percent(chance)})" for id, chance in chances.items()}
    menu_key = key.of(str(hash((position, chosen, *names))))
    if not menu_key.is_set:
        menu_key.set(chosen)

    def choose() -> None:
        value = menu_key.get()
        key.set(None if value == default else value if isinstance(value, str) else spell(value).strip() or spell(value))

    st.selectbox(
        title,
        list(names),
        format_func=lambda id: names.get(id, str(id)),
        key=menu_key.name,
        on_change=choose,
        accept_new_options=True,
        help="Choose a token, or type any word and press Enter.",
    )
    state.keep(key, key.get(), None)
    return chosen


def token_of_text(look: Look, trace: Trace, position: int, text: str) -> int:
    """Return the token for a typed word, or its first token: with or without a leading space, whichever is likelier."""
    readings = [
        [token for token in look.model.tokenize(form) if not (token.special and token.start == token.end)]
        for form in (f" {text.strip()}", text)
    ]
    readings_by_length = sorted((reading for reading in readings if reading), key=len)
    logits = trace.logits_at(position)
    assert logits is not None, "it predicts there"
    shortest = [reading for reading in readings_by_length if len(reading) == len(readings_by_length[0])]
    chosen = max(shortest, key=lambda reading: float(logits[reading[0].id]))
    if len(chosen) > 1:
        first = plain(named(chosen[0].text))
        st.info(f"For this model “{plain(text.strip())}” is {len(chosen)} tokens. The question is about the first, “{first}”.")
    return chosen[0].id
