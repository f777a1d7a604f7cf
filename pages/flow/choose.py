"""The choice of a token, and of the prediction that is followed there."""

from __future__ import annotations

import streamlit as st

from pages.flow.request import HERE
from ui import state
from ui.choices.token import press
from ui.look import Look
from ui.show import choice, show
from ui.text import plain
from ui.words import say
from viz import Card, Part, board, token_chips
from viz.numbers import percent_or_score
from viz.tokens import label, listed, named, plain_sign

PREDICTIONS = 10  # in the menu


def position(look: Look) -> int:
    """Return the position that is asked about, among `trace.read`."""
    return look.default_position if look.chosen_token is None or look.chosen_token >= len(look.trace.read) else look.chosen_token


def chips(look: Look, chosen: int) -> None:
    """Place the tokens to choose from; a second click clears the selection."""
    selection = look.select(look.trace.read)

    def react() -> None:
        press(selection.places[choice("flow-chips")["value"]], look.default_position)

    view = token_chips(selection.tokens, selection.index(chosen), ids=False, link="" if look.trace.target else "flow")
    show(board([Card([Part("chips", view)])], "The tokens"), "flow-chips", react)


def token(look: Look, chosen: int) -> int | None:
    """Return the id of the prediction that is followed: the likeliest, or as chosen; None for a model that predicts nothing."""
    model, trace = look.model, look.trace
    logits, labels = trace.scores_at(chosen), model.info.labels
    if logits is None:
        say(HERE, "headless", name=plain(model.info.name))
        return None
    if labels and chosen not in model.places(trace):
        say(HERE, "not labelled", token=plain(named(look.spell_tokens(trace.tokens)[look.default_position].text)))
        return None
    best = model.top(logits, chosen, PREDICTIONS)
    if model.info.mask and not labels and chosen not in model.places(trace):
        say(HERE, "not covered", mask=plain(model.info.mask))
    if look.beginner:
        share = percent_or_score(best[0].probability, best[0].score)
        say(HERE, "follows", prediction=f"“{plain(named(plain_sign(best[0].text)))}”", share=share)
        return best[0].id
    names = {
        candidate.id: f"“{(label if labels else listed)(candidate.text)}” "
        f"{percent_or_score(candidate.probability, candidate.score)}"
        for candidate in best
    }
    return st.selectbox(
        "Follow the prediction", list(names), 0, names.__getitem__, key=state.FOLLOW.of(str(hash((chosen, *names)))).name
    )
