"""Page "Attention": a head as lines, as a text, in numbers or as a heatmap, and all heads side by side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from pages.attention import compare, controls, of_image
from pages.attention.clicks import REACTIONS, on_map
from pages.attention.compose import HERE, compose, compose_map
from pages.attention.live import VIEWS, compose_from, values_of
from pages.attention.settings import Settings
from pages.attention.views import BEGINNER, WIDE
from pages.attention.window import MAP, needs_window, seen_through
from pages.attention.wording import AVERAGES, WORDS
from ui import shell, state
from ui.choices import heads, patches, picker, scope
from ui.choices.widgets import tabs
from ui.live.connect import Live
from ui.look import Look
from ui.memory import loaded
from ui.picture.board import Board
from ui.picture.mount import composed, mount
from ui.picture.mount import place as place_picture
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import words

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def draw(look: Look) -> Live | None:
    if "image" in look.model.info.reads:
        return draw_picture(look)
    scope.say_apart(look)
    above = shell.above()
    with above:
        view = tabs(state.VIEW, "the view", BEGINNER if look.beginner else None)
    place = st.container()
    left, right = (place, place) if view in WIDE else place.columns([7, 4])
    board, compared, settings = Board({}), False, Settings()
    drawing: Picture | None = None
    with left, picture(f"The view “{view}”"):
        whole = view == "Heatmap" and compare.reads_another(look)
        map_place = st.container() if needs_window(look, view) and not whole else None
        settings = controls.settings(look, view)
        if compared := view == "Heatmap" and compare.is_on(look):
            drawing = draw_comparison(look, settings, map_place)
        else:
            board = composed(compose, look, settings)
            drawing = board.pictures[0] if board.pictures else None
            place_board(board, look, map_place)
    with above, picture("“Take it away”"):
        if drawing:
            take_away(drawing.key, lambda: [drawing])
    with right, picture("The summary"):
        if not compared:
            mount_words(board)
        elif drawing:  # without one, the place of the picture says what a comparison needs
            compare.place_words(HERE, drawing)
    is_live = view in VIEWS and bool(board.contents) and not look.apart
    return Live(compose_from, board, values_of(settings)) if is_live else None


def draw_picture(look: Look) -> Live:
    """Place all heads of a layer on a picture."""
    board = composed(of_image.compose, look)
    patches.place(board, "maps", look, of_image.picked)
    take_away("maps", lambda: board.pictures)
    return Live(compose_from, board, {}, of_image.picked, parts=of_image.PARTS)


def place_board(board: Board, look: Look, map_place: DeltaGenerator | None) -> None:
    """Place a view, and above its controls the map of a long text."""
    for key in board.contents:
        if key == MAP and map_place:
            with map_place:
                mount(board, MAP, lambda: on_map(look))
        elif key not in (WORDS, AVERAGES):
            mount(board, key, reaction(board, key))


def mount_words(board: Board) -> None:
    if WORDS in board.contents:
        mount(board, WORDS)
    if AVERAGES in board.contents:
        with st.expander(words(HERE, "averages")):
            mount(board, AVERAGES)


def reaction(board: Board, key: str) -> Callable[[], None] | None:
    """Return the callback for clicks on a view; None for none."""
    react = REACTIONS.get(key)
    return partial(react, board.pictures[0].looks[0]) if react else None


def draw_comparison(look: Look, settings: Settings, map_place: DeltaGenerator | None) -> Picture | None:
    """Place two heads beside each other, and return the picture; None while there is no second one."""
    seen = look
    if map_place:
        seen = seen_through(look, settings.window, settings.view)
        place_board(composed(compose_map, look, seen), look, map_place)
    drawing = compare.picture(seen, compare.chosen_way(look))
    if drawing:
        place_picture(drawing)
    return drawing


heads.side_bar(picker.in_use())
of_images = "image" in loaded.info(picker.in_use()).reads
if not of_images:
    scope.side_bar()
shell.live(HERE, draw, purpose="purpose image" if of_images else "purpose", reads_images=True)
