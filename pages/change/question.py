"""The prediction that experiments ask about, and the one that it is compared with: chosen from the likeliest, or typed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from models.language_model import softmax
from models.tokens import Prediction
from models.trace import Trace
from pages.change import figures
from ui import state
from ui.look import Look
from ui.state import Key
from ui.text import plain
from ui.words import say, words
from viz import percent
from viz.tokens import listed, named

HERE = Path(__file__).parent
PREDICTIONS = 20  # in the menu
ANY = -1  # in place of a token: any other


@dataclass(frozen=True)
class Question:
    """The question why the model predicts a token at a position of `look.trace.read`, or why it rather than the token `against`.
    trace: the text, read with the changes."""

    look: Look
    trace: Trace
    position: int
    token: int
    against: int | None = None

    @property
    def description(self) -> str:
        """The prediction in words."""
        first = f"“{self.spell(self.token)}”"
        return first if self.against is None else f"{first} rather than “{self.spell(self.against)}”"

    def spell(self, id: int) -> str:
        return named(self.look.outcome(id))

    @property
    def key(self) -> tuple:
        """All that the answer depends on."""
        trace, name = self.trace, self.look.model.info.name
        return (name, trace.text, self.look.second, trace.edits, self.position, self.token, self.against)


def ask(look: Look, trace: Trace) -> Question | None:
    """Place the menus, and return the question; None, with a sentence, where the model predicts nothing."""
    position = figures.predicted_position(look)
    if position is None or look.trace.unembed is None:  # labels are no words: nothing that a part writes is read as one
        info = look.model.info
        why = look.without_words if look.trace.unembed is None else "unmasked" if info.mask else "maskless"
        say(HERE, why, name=plain(info.name), mask=plain(info.mask))
        return None
    logits = trace.logits_at(position)
    assert logits is not None, "it predicts there"
    best = look.model.top(logits, position, PREDICTIONS)
    if look.beginner:  # votes for one word alone say little: what is added to all words changes no chance
        state.later("intermediate", state.CHANGE_WORD, state.CHANGE_AGAINST)
        return Question(look, trace, position, best[0].id, best[1].id if len(best) > 1 else None)
    left, right = st.columns(2)
    with left:
        token = pick(look, trace, position, state.CHANGE_WORD, words(HERE, "question word"), best, best[0].id)
    with right:
        against = pick(look, trace, position, state.CHANGE_AGAINST, words(HERE, "question against"), best, ANY)
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
        title, list(names), format_func=lambda id: names.get(id, str(id)), key=menu_key.name, on_change=choose,
        accept_new_options=True, help="Choose a token, or type any word and press Enter.",
    )  # fmt: skip
    state.keep(key, key.get(), None)
    return chosen


def token_of_text(look: Look, trace: Trace, position: int, text: str) -> int:
    """Return the token that a typed word is, or begins with: after a space or without one, whichever is likelier."""
    readings = [[token for token in look.model.tokenize(form) if not (token.special and token.start == token.end)] for form in (
        f" {text.strip()}", text)]  # fmt: skip
    readings_by_length = sorted((reading for reading in readings if reading), key=len)
    logits = trace.logits_at(position)
    assert logits is not None, "it predicts there"
    shortest = [reading for reading in readings_by_length if len(reading) == len(readings_by_length[0])]
    chosen = max(shortest, key=lambda reading: float(logits[reading[0].id]))
    if len(chosen) > 1:
        first = plain(named(chosen[0].text))
        st.info(f"For this model “{plain(text.strip())}” is {len(chosen)} tokens. The question is about the first, “{first}”.")
    return chosen[0].id
