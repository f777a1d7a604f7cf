"""Which token is asked about, which prediction is explained there, and against which other."""

from __future__ import annotations

import streamlit as st

from pages.explain.asked import HERE
from ui import state
from ui.choices.token import press
from ui.look import Look
from ui.show import choice, show
from ui.text import plain
from ui.words import say
from viz import Card, Part, board, percent, token_chips
from viz.tokens import label

PREDICTIONS = 20  # to choose from
ANY = -1  # no token: rather than any other


def position(look: Look) -> int:
    """The position that is asked about, among `trace.read`: the token that is kept chosen, else a mask or the last."""
    return first(look) if look.kept is None or look.kept >= len(look.trace.read) else look.kept


def first(look: Look) -> int:
    return (look.model.places(look.trace) or [look.newest])[0]


def chips(look: Look, chosen: int) -> None:
    """The tokens to choose from; a press asks about one, and pressed again it is let go."""
    seen = look.select(look.trace.read)

    def react() -> None:
        press(seen.places[choice("explain-chips")["value"]], first(look))

    view = token_chips(seen.tokens, seen.index(chosen), ids=False)
    show(board([Card([Part("chips", view)])], "The tokens"), "explain-chips", react)


def prediction(look: Look, chosen: int) -> tuple[int, int | None]:
    """The id of the prediction that is explained, and of the one that it is held against."""
    model = look.model
    logits = look.trace.logits_at(chosen)
    assert logits is not None, "it has an unembedding"
    best = model.top(logits, chosen, PREDICTIONS)
    if model.info.mask and chosen not in model.places(look.trace):
        say(HERE, "not covered", mask=plain(model.info.mask))
    if look.beginner:
        state.later("intermediate", state.EXPLAIN_WORD, state.EXPLAIN_AGAINST)
        return best[0].id, None
    names = {one.id: f"{label(one.text)} ({percent(one.probability)})" for one in best}
    spelt = {one.id: one.text.strip() or one.text for one in best}
    left, right = st.columns(2)
    with left:
        token = pick(state.EXPLAIN_WORD, "Why", names, spelt, best[0].id, chosen)
    others = {ANY: "any other"} | {id: name for id, name in names.items() if id != token}
    with right:
        against = pick(state.EXPLAIN_AGAINST, "Rather than", others, spelt, ANY, chosen)
    return token, None if against == ANY else against


def pick(key: state.Key, title: str, names: dict[int, str], spelt: dict[int, str], default: int, place: int) -> int:
    """One of some tokens. A link names it by its text, and says nothing of the default."""
    here = key.of(str(hash((place, *names))))
    if (asked := state.once(key)) is not None:
        found = next((id for id in names if spelt.get(id) == asked.strip()), None)
        if found is None:
            state.complain(key, asked, "the word")
        else:
            here.set(found)
            key.set(found)
    if not here.held and key.get() in names:
        here.set(key.get())
    chosen = st.selectbox(title, list(names), list(names).index(default), names.__getitem__, key=here.name)
    key.set(None if chosen == default else chosen)
    state.keep(key, None if chosen == default else spelt[chosen], None)
    return chosen
