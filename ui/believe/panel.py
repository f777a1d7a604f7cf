"""The panel “Which to believe” of two pages: the choice of an order, and the board."""

from __future__ import annotations

import streamlit as st

from ui import state
from ui.believe.compose import COME, LEAVE, MEASURES, POINTS, compose, titles_of
from ui.believe.measuring import measure
from ui.believe.trial import HERE, Trial
from ui.choices.widgets import one_of
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.words import words

FOLDED = {MEASURES: "How this is tested", POINTS: "The numbers"}  # the first is short for beginners, and stands open
IN_A_ROW = 7  # methods of which each has a button; more are a menu


def panel(trial: Trial) -> list[Picture]:
    """Place the curves of one method's order with random orders behind it, and the measures and verdict of each method."""
    if not trial.chance:
        return [*mount_all(composed(compose, trial.look, trial))]
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
        if key == LEAVE:
            charts = [chart for chart in (LEAVE, COME) if chart in board.contents]
            for place, chart in zip(st.columns(2) if len(charts) > 1 else [st.container()], charts, strict=True):
                with place:
                    mount(board, chart)
        elif title := FOLDED.get(key) if key == POINTS or not trial.look.beginner else None:
            with st.expander(title):
                mount(board, key)
        elif key != COME:
            mount(board, key)
    return [*board.pictures]
