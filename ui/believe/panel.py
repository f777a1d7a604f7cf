"""The panel “Which to believe” of two pages: the choice of an order, and the board."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import Faithfulness
from ui import state
from ui.believe.compose import (
    ABOVE,
    ASKS,
    CURVES,
    OPEN,
    PAIR_CURVES,
    VERDICT,
    compose,
    compose_pair,
    opens_on,
    rivals,
    titles_of,
)
from ui.believe.measuring import measure
from ui.believe.trial import HERE, Trial
from ui.choices.widgets import one_of
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.words import say, words

IN_A_ROW = 7  # methods of which each has a button; more are a menu


def panel(trial: Trial) -> list[Picture]:
    """Place the verdict on one method, the choice of it, its curve, and, folded, how it was tested; all of it folded behind two
    methods that disagree, where the trial has rivals."""
    if not trial.chance:
        return [*mount_all(composed(compose, trial.look, trial))]
    first = st.container()
    evidence = measure(trial)
    if evidence is None:
        return []
    pair = rivals(trial, evidence)
    if len(pair) < 2:
        return every_method(trial, evidence, first)
    with first:
        pictures = two_methods(trial, evidence, (pair[0], pair[1]))
    with st.expander(words(HERE, "pair fold", methods=len(titles_of(trial, evidence)))):
        return [*pictures, *every_method(trial, evidence, st.container())]


def two_methods(trial: Trial, evidence: Faithfulness, pair: tuple[str, str]) -> list[Picture]:
    """Place two methods that disagree, and which of them to believe."""
    board = composed(compose_pair, trial.look, trial, evidence, pair)
    mount(board, ASKS)
    for place, key in zip(st.columns(2), PAIR_CURVES, strict=True):
        with place:
            mount(board, key)
    for key in board.contents:
        if key not in (ASKS, *PAIR_CURVES):
            mount(board, key)
    return [*board.pictures]


def every_method(trial: Trial, evidence: Faithfulness, first: DeltaGenerator) -> list[Picture]:
    """Place the verdict on the chosen method in `first`, the choice, its curves, and the measures of all methods."""
    titles, best = titles_of(trial, evidence), opens_on(trial, evidence)
    kind = " masked" if trial.question.mask else " image" if trial.of_image and words(HERE, "question image") else ""
    say(HERE, f"question{kind}")
    chosen = one_of(
        state.BELIEVE.of(best),  # where another method opens, the choice of before does not hold
        list(titles),
        "",
        label=words(HERE, "order"),
        default=best,
        menu=len(titles) > IN_A_ROW,
        format_option=titles.__getitem__,
    )
    board = composed(compose, trial.look, trial, evidence, chosen)
    with first:
        mount(board, VERDICT)
    for key in filter(board.contents.__contains__, ABOVE):
        mount(board, key)
    for place, key in zip(st.columns(2), filter(board.contents.__contains__, CURVES), strict=False):
        with place:
            mount(board, key)
    below = [key for key in board.contents if key not in (VERDICT, *ABOVE, *CURVES)]
    for key in below:
        if key.split()[0] in OPEN:
            mount(board, key)
    with st.expander("How this was tested"):
        for key in below:
            if key.split()[0] not in OPEN:
                mount(board, key)
    return [*board.pictures]
