"""Part "Evolution": one pair of tokens in every head, and the whole map layer by layer."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import maps, pair
from pages.layers import heads, recipes
from pages.layers import state as page_state
from pages.layers.boards.evolution import FILM, KEY, PAIR, RANKS, WORDS, chosen_key
from pages.layers.compose import compose
from pages.layers.live import compose_from, values_of
from pages.layers.settings import Evolution, Settings
from ui.choices.token import keep as keep_token
from ui.choices.token import press
from ui.choices.widgets import one_of
from ui.live.connect import Live
from ui.look import Look
from ui.memory import jobs
from ui.picture.mount import composed, mount
from ui.picture.picture import Picture
from ui.show import choice
from viz.views.grid_view.layers import pair_of_cell


def draw(look: Look) -> tuple[Sequence[Picture], Live | None]:
    heads.follow()
    settings = Settings(pair_key=page_state.PAIR_KEY.get())
    reading, places = None, _places()
    if len(look.attention.keys) > 1:
        with places[WORDS]:
            settings, reading = _read(look, settings, places[FILM])
        if reading is None:
            return [], None
    board = composed(compose, look, settings, reading)
    for key in board.contents:
        with places.get(key, places[KEY]), st.expander("The same as ranks") if key == RANKS else nullcontext():
            mount(board, key, partial(_react, look, settings, reading, key) if reading else None)
    return board.pictures, Live(compose_from, board, values_of(settings))


def _places() -> dict[str, DeltaGenerator]:
    """Return where each board stands: words above, then the film and the pair side by side, the texts below."""
    above = st.container()
    left, right = st.columns([6, 5])
    return {WORDS: above, FILM: left, PAIR: right, RANKS: right, KEY: st.container()}


def _read(look: Look, settings: Settings, beside_film: DeltaGenerator) -> tuple[Settings, Evolution | None]:
    """Return the results for the boards, None until they are calculated; and the settings with the choice of a film, whose switch
    is placed above it."""
    subject, attention = (look.model.info.name, look.trace.text, look.second, look.kind), look.attention
    mean = jobs.result(("maps", *subject), lambda report: maps(attention, report=report), "Reading every layer")
    if mean is None:
        return settings, None
    at = look.token, chosen_key(look, settings, recipes.over(mean))
    in_heads = jobs.result(
        ("pair", *subject, *at), lambda report: pair(attention, *at, report), "Looking for the pair in every head"
    )
    if in_heads is None:
        return settings, None
    settings = replace(settings, film=_choose_film(beside_film))
    film: np.ndarray | None = mean
    if settings.film:
        head, doing = look.head, f"Reading H{look.head} of every layer"
        film = jobs.result(("maps", *subject, head), lambda report: maps(attention, head, report=report), doing)
    return settings, Evolution(mean, in_heads, film)


def _choose_film(place: DeltaGenerator) -> bool:
    """Return whether to play the maps of the chosen head."""
    films = page_state.MOVIE.values
    return one_of(page_state.MOVIE, films, "the film of", label="The map shows", place=place) == films[1]


def _react(look: Look, settings: Settings, reading: Evolution, board: str) -> None:
    """Handle a click on a board."""
    key = chosen_key(look, settings, recipes.over(reading.mean))
    match choice(board):
        case {"part": "from", "value": position}:
            press(position, look.newest)
            _keep(look, key)
        case {"part": "to", "value": position}:
            _keep(look, position)
        case {"part": "movie", "value": [row, column]}:
            query, key = pair_of_cell(_film_of(reading), row, column)
            keep_token(query)
            _keep(look, key)
        case {"part": "weights" | "ranks", "value": [layer, number]}:
            heads.open_head(layer, number)


def _film_of(reading: Evolution) -> np.ndarray:
    return reading.mean if reading.film is None else reading.film


def _keep(look: Look, key: int) -> None:
    page_state.PAIR_KEY.set((key, look.attention.keys[key].id))
