"""The choice of a token, of the prediction at it to explain, and of the prediction to compare with."""

from __future__ import annotations

from typing import Any

import streamlit as st

from models.class_labels import ONE
from models.language_model import LanguageModel
from models.tokens import Prediction
from pages.explain import state as page_state
from pages.explain.asked import chance_of
from pages.explain.boards.tokens import CHIPS
from ui import state
from ui.choices.token import press
from ui.choices.word import token_of
from ui.escaping import plain
from ui.look import Look
from ui.show import choice
from viz import percent
from viz.numbers import percent_or_score
from viz.tokens import label, listed, named

PREDICTIONS, LABELS = 20, 500  # in the menus
ANY = -1  # in place of a token: any other


def select_token(look: Look) -> None:
    """Handle a click on the tokens; a second one clears the selection."""
    press(look.select(look.trace.read).places[choice(CHIPS)["value"]], look.default_position)


def prediction(look: Look, chosen: int) -> tuple[int, int | None]:
    """Return the ids of the explained prediction and of the one that it is compared with."""
    logits = look.trace.scores_at(chosen)
    assert logits is not None, "it predicts"
    best = look.model.top(logits, chosen, LABELS if look.model.info.labels else PREDICTIONS)
    if look.beginner:
        state.later("intermediate", page_state.EXPLAIN_WORD, page_state.EXPLAIN_AGAINST)
        return best[0].id, None
    left, right = st.columns(2)
    with left:
        token = pick(look, chosen, page_state.EXPLAIN_WORD, "Why", best)
    with right:
        against = pick(look, chosen, page_state.EXPLAIN_AGAINST, "Rather than", best, token)
    return token, None if against == ANY else against


def pick(look: Look, place: int, key: state.Key, title: str, best: list[Prediction], itself: int | None = None) -> int:
    """Place a menu of the likeliest tokens, which also accepts a typed token, or of the labels, and return the choice. A menu of
    tokens to compare with `itself` begins with "any other". A link contains the choice's text, unless it is the default."""
    model, labels = look.model, look.model.info.labels
    written = label if labels else listed
    names = {
        candidate.id: f"{written(candidate.text)} ({percent_or_score(candidate.probability, candidate.score)})"
        for candidate in best
        if candidate.id != itself
    }
    texts = {candidate.id: candidate.text.strip() or candidate.text for candidate in best if candidate.id != itself}
    usual, default = set(names), best[0].id
    if itself is not None:
        alone = labels is not None and labels.rule != ONE  # its score does not depend on those of the others
        names, default = {ANY: "nothing else" if alone else "any other"} | names, ANY

    def find(text: str) -> int | None:
        return next((id for id in texts if texts[id] == text.strip()), None if labels else token_of(model, text, ()))

    link_text = state.take_linked_value(key)
    value = link_text if link_text is not None else key.get()
    if isinstance(value, str):  # typed, or from a link
        token = find(value)
        if token in (None, itself) and link_text is not None:
            state.complain(key, link_text, "the label" if labels else "the word")
        value = None if token == itself else token
    if value is not None and value not in names and isinstance(link_text or key.get(), str):
        texts[value] = spell(model, value)
        names[value] = f"{listed(model.token_text(value))} ({percent(chance_of(look, place, value))})"
    menu_key = key.of(str(hash((place, *names))))
    if value in names and (link_text is not None or not menu_key.is_set):
        menu_key.set(value)
    free: dict[str, Any] = {"accept_new_options": True, "help": "Choose a token, or type any word and press Enter."}
    chosen: int | str = st.selectbox(
        title,
        list(names),
        list(names).index(default),
        lambda id: names.get(id, str(id)),
        key=menu_key.name,
        **({} if labels else free),
    )
    if isinstance(chosen, str):
        chosen = check_typed(model, chosen, find(chosen), itself, default)
    text = None if chosen == default else texts.get(chosen) or spell(model, chosen)
    key.set(chosen if chosen in usual and text else text)
    state.keep(key, text, None)
    return chosen


def check_typed(model: LanguageModel, text: str, token: int | None, itself: int | None, default: int) -> int:
    """Return the typed token; if the typed text is no token, the default, with a notice."""
    if token is not None and token != itself:
        return token
    why = "is no single token of this model" if token is None else "cannot be held against itself"
    instead = "any other" if default == ANY else f"“{named(model.token_text(default))}”"
    st.info(plain(f"“{text}” {why}, so {instead} is taken."))
    return default


def spell(model: LanguageModel, token: int) -> str:
    """Return the text of a token for a link."""
    text = model.token_text(token)
    return text.strip() or text
