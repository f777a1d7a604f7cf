"""The views of this page: each waits for its results, and places them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from pages.flow import calculations, choose
from pages.flow import state as page_state
from pages.flow.boards.findings import place_to_take, word_at
from pages.flow.boards.methods import ABOUT, LAYERS, METHODS, OTHERS, methods_of
from pages.flow.boards.streams import TABLE
from pages.flow.compose import compose
from pages.flow.recipes import FLOW, GRADIENTS, ROLLOUT
from pages.flow.request import Request, request_of
from pages.flow.settings import Methods, Settings
from ui.choices.widgets import one_of
from ui.escaping import plain
from ui.look import Look
from ui.picture.mount import composed, mount, mount_all, write_beside
from ui.picture.picture import Picture
from ui.show import picture

STREAMS_OF = (ROLLOUT, "value-weighted rollout")


def side_by_side(look: Look, settings: Settings) -> Sequence[Picture]:
    request = request_of(look, settings)
    scores = calculations.answers(request)
    if scores is None:
        return []
    size = np.asarray(scores["pipes"])
    if FLOW in request.methods:
        with picture(calculations.titles()[FLOW]):
            if (most := calculations.flow(request, size)) is not None:
                scores = scores | {FLOW: most}
    board = composed(compose, look, settings, Methods(scores, calculations.window(size)))
    others = "More methods"
    if look.beginner:
        others = "Two other ways to ask" if len(methods_of(request, scores)) > 2 else "Another way to ask"
    folded = (OTHERS, ABOUT) if look.beginner and OTHERS in board.contents else (OTHERS,)
    clicks = {key: partial(choose.react_to_text, request, key) for key in (METHODS, OTHERS)} if not request.of_image else {}
    for key in board.contents:
        if key not in folded:
            mount(board, key, clicks.get(key))
            if key == METHODS and look.beginner:
                guess_again(request, settings, scores)
        elif key == OTHERS:
            with st.expander(others):
                for part in folded:
                    mount(board, part, clicks.get(part))
    return board.pictures


def guess_again(request: Request, settings: Settings, scores: Mapping[str, np.ndarray | str]) -> None:
    """Offer a beginner the guess without the word that counts most, or place it beside the first one."""
    values = scores[GRADIENTS]
    place = None if isinstance(values, str) else place_to_take(request, values)
    if place is None:
        return
    asked = hash((*request.key, *request.seen[1][place]))
    if page_state.WITHOUT.get() != asked:
        word = f"“{plain(word_at(request, place))}”"
        label = f"Guess again with {word} covered" if request.covers else f"Guess again without {word}"
        st.button(label, icon=":material/backspace:", on_click=page_state.WITHOUT.set, args=(asked,), key="flow-guess-again")
        return
    with picture("The guess without a word"):
        if (reading := calculations.without(request, place)) is not None:
            mount_all(composed(compose, request.look, settings, reading))


def layer_by_layer(look: Look, settings: Settings) -> Sequence[Picture]:
    request = request_of(look, settings)
    reading = calculations.layers(request)
    if reading is None:
        return []
    board = composed(compose, look, settings, reading)
    for key in board.contents:
        if key != LAYERS or request.of_image:  # a picture of each layer needs the whole width
            mount(board, key)
    if request.of_image:
        write_beside(board)
        return board.pictures
    left, right = st.columns([7, 3])
    with left:
        mount(board, LAYERS)
    with right:
        write_beside(board)
    return board.pictures


def streams(look: Look, settings: Settings) -> Sequence[Picture]:
    settings = choose_streams(look, settings)
    reading = calculations.streams(request_of(look, settings), settings)
    if reading is None:
        return []
    board = composed(compose, look, settings, reading)
    for key in board.contents:
        if key != TABLE:
            mount(board, key)
    with st.expander("The numbers"):
        mount(board, TABLE)
    return board.pictures


def choose_streams(look: Look, settings: Settings) -> Settings:
    """Place the controls of the streams at the levels that have them, and return their values."""
    if look.beginner:
        return settings
    left, right = st.columns(2)
    method = one_of(
        page_state.STREAMS_OF, STREAMS_OF, "", label="Streams of", format_option=calculations.titles().__getitem__, place=left
    )
    share = right.slider(
        "From a share of", 0.2, 10.0, 100 * settings.least, 0.2, format="%.1f %%", key=page_state.STREAMS_FROM.name
    )
    return replace(settings, streams_of=method, least=share / 100)
