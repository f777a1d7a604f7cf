"""Which token is asked about, which prediction is explained there, and against which other."""

from __future__ import annotations

import streamlit as st

from models.outcomes import ONE
from pages.explain.asked import HERE
from ui import state
from ui.choices.token import press
from ui.look import Look
from ui.show import choice, show
from ui.text import plain
from ui.words import say
from viz import Card, Part, board, token_chips
from viz.numbers import percent_or_score
from viz.tokens import label

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
    names = {one.id: f"{label(one.text)} ({percent_or_score(one.probability, one.score)})" for one in best}
    spelt = {one.id: one.text.strip() or one.text for one in best}
    meaning = "the label" if labels else "the word"
    left, right = st.columns(2)
    with left:
        token = pick(state.EXPLAIN_WORD, "Why", names, spelt, best[0].id, chosen, meaning)
    alone = labels is not None and labels.rule != ONE  # its score does not hang on those of the others
    others = {ANY: "nothing else" if alone else "any other"} | {id: name for id, name in names.items() if id != token}
    with right:
        against = pick(state.EXPLAIN_AGAINST, "Rather than", others, spelt, ANY, chosen, meaning)
    return token, None if against == ANY else against


def pick(key: state.Key, title: str, names: dict[int, str], spelt: dict[int, str], default: int, place: int, meaning: str) -> int:
    """One of some tokens, or labels. A link names it by its text, and says nothing of the default."""
    here = key.of(str(hash((place, *names))))
    if (asked := state.once(key)) is not None:
        found = next((id for id in names if spelt.get(id) == asked.strip()), None)
        if found is None:
            state.complain(key, asked, meaning)
        else:
            here.set(found)
            key.set(found)
    if not here.held and key.get() in names:
        here.set(key.get())
    chosen = st.selectbox(title, list(names), list(names).index(default), names.__getitem__, key=here.name)
    key.set(None if chosen == default else chosen)
    state.keep(key, None if chosen == default else spelt[chosen], None)
    return chosen
