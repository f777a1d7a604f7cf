"""Which token is asked about, which prediction is explained there, and against which other."""

from __future__ import annotations

from typing import Any

import streamlit as st

from models.language_model import LanguageModel
from models.outcomes import ONE
from models.tokens import Prediction
from pages.explain.asked import HERE
from ui import state
from ui.choices.token import press
from ui.choices.word import token_of
from ui.look import Look
from ui.show import choice, show
from ui.text import plain
from ui.words import say
from viz import Card, Part, board, percent, token_chips
from viz.numbers import percent_or_score
from viz.tokens import label, named

PREDICTIONS, LABELS = 20, 500  # to choose from
ANY = -1  # no token: rather than any other


def position(look: Look) -> int:
    """The position that is asked about, among `trace.read`: the token that is kept chosen, else a mask or the last; where labels
    are given, one that has them."""
    if look.model.info.labels or look.kept is None or look.kept >= len(look.trace.read):
        return look.predicted_at
    return look.kept


def chips(look: Look, chosen: int) -> None:
    """The tokens to choose from, where there are several predictions; a press asks about one, and pressed again it is let go."""
    labels = look.model.info.labels
    if labels and not labels.each:
        return
    seen = look.select(look.trace.read)

    def react() -> None:
        press(seen.places[choice("explain-chips")["value"]], look.asked_first)

    view = token_chips(seen.tokens, seen.index(chosen), ids=False)
    show(board([Card([Part("chips", view)])], "The tokens"), "explain-chips", react)


def prediction(look: Look, chosen: int) -> tuple[int, int | None]:
    """The id of the prediction that is explained, and of the one that it is held against."""
    model = look.model
    logits, labels = look.trace.scores_at(chosen), model.info.labels
    assert logits is not None, "it predicts"
    best = model.top(logits, chosen, LABELS if labels else PREDICTIONS)
    if model.info.mask and not labels and chosen not in model.places(look.trace):
        say(HERE, "not covered", mask=plain(model.info.mask))
    if look.beginner:
        state.later("intermediate", state.EXPLAIN_WORD, state.EXPLAIN_AGAINST)
        return best[0].id, None
    left, right = st.columns(2)
    with left:
        token = pick(look, chosen, state.EXPLAIN_WORD, "Why", best)
    with right:
        against = pick(look, chosen, state.EXPLAIN_AGAINST, "Rather than", best, token)
    return token, None if against == ANY else against


def pick(look: Look, place: int, key: state.Key, title: str, best: list[Prediction], itself: int | None = None) -> int:
    """One of the likeliest tokens or any other that is typed, or one of the labels; of those to hold against `itself` first none
    in particular. A link names it by its text, and says nothing of the default."""
    model, labels = look.model, look.model.info.labels
    names = {one.id: f"{label(one.text)} ({percent_or_score(one.probability, one.score)})" for one in best if one.id != itself}
    spelt = {one.id: one.text.strip() or one.text for one in best if one.id != itself}
    usual, default = set(names), best[0].id
    if itself is not None:
        alone = labels is not None and labels.rule != ONE  # its score does not hang on those of the others
        names, default = {ANY: "nothing else" if alone else "any other"} | names, ANY

    def find(text: str) -> int | None:
        return next((id for id in spelt if spelt[id] == text.strip()), None if labels else token_of(model, text, ()))

    asked = state.once(key)
    wanted = asked if asked is not None else key.get()
    if isinstance(wanted, str):  # it was typed, or stands in a link
        found = find(wanted)
        if found in (None, itself) and asked is not None:
            state.complain(key, asked, "the label" if labels else "the word")
        wanted = None if found == itself else found
    if wanted is not None and wanted not in names and isinstance(asked or key.get(), str):
        spelt[wanted] = spell(model, wanted)
        names[wanted] = f"{label(model.token_text(wanted))} ({percent(chance_of(look, place, wanted))})"
    here = key.of(str(hash((place, *names))))
    if wanted in names and (asked is not None or not here.held):
        here.set(wanted)
    free: dict[str, Any] = {"accept_new_options": True, "help": "Choose a token, or type any word and press Enter."}
    chosen: int | str = st.selectbox(
        title, list(names), list(names).index(default), lambda id: names.get(id, str(id)), key=here.name,
        **({} if labels else free),
    )  # fmt: skip
    if isinstance(chosen, str):
        chosen = typed(model, chosen, find(chosen), itself, default)
    text = None if chosen == default else spelt.get(chosen) or spell(model, chosen)
    key.set(chosen if chosen in usual and text else text)
    state.keep(key, text, None)
    return chosen


def typed(model: LanguageModel, text: str, found: int | None, itself: int | None, default: int) -> int:
    """The token that was typed; the default, with a sentence, where it is none that can be asked about."""
    if found is not None and found != itself:
        return found
    why = "is no single token of this model" if found is None else "cannot be held against itself"
    instead = "any other" if default == ANY else f"“{named(model.token_text(default))}”"
    st.info(plain(f"“{text}” {why}, so {instead} is taken."))
    return default


def spell(model: LanguageModel, token: int) -> str:
    """A token as a link names it."""
    text = model.token_text(token)
    return text.strip() or text


def chance_of(look: Look, place: int, token: int) -> float:
    """How likely a token is at a place."""
    logits = look.trace.scores_at(place)
    assert logits is not None, "it predicts"
    return float(look.model.chances(logits)[token])
