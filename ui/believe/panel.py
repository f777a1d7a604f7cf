"""The panel “Which to believe” of two pages: the choice of an order, and the board."""

from __future__ import annotations

import streamlit as st

from ui import state
from ui.believe.compose import FIRST, OPEN, compose, titles_of
from ui.believe.measuring import measure
from ui.believe.trial import HERE, Trial
from ui.choices.widgets import one_of
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.words import say, words

IN_A_ROW = 7  # methods of which each has a button; more are a menu


def panel(trial: Trial) -> list[Picture]:
    """Place the verdict on one method, the choice of it, its curve, and, folded, the measures of all methods."""
    if not trial.chance:
        return [*mount_all(composed(compose, trial.look, trial))]
    first = st.container()
    say(HERE, "question masked" if trial.question.mask else "question")
    evidence = measure(trial)
    if evidence is None:
        return []
    titles = titles_of(trial, evidence)
    # The first, not the best: the best of some random orders beats 20 others often enough.
    chosen = one_of(
        state.BELIEVE, list(titles), "", label=words(HERE, "order"), menu=len(titles) > IN_A_ROW, format_option=titles.__getitem__
    )
    board = composed(compose, trial.look, trial, evidence, chosen)
    for key in board.contents:
        if key in FIRST:
            with first:
                mount(board, key)
        elif key in OPEN:
            mount(board, key)
    with st.expander("The numbers behind it"):
        for key in board.contents:
            if key not in OPEN:
                mount(board, key)
    return [*board.pictures]
