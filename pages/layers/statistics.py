"""Part "Statistics": numbers for every head in this text, and which heads look at the same tokens."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from analysis import head_divergence, head_statistics
from pages.layers import heads
from pages.layers import state as page_state
from pages.layers.boards.statistics import ALIKE, KEY, MAP
from pages.layers.compose import compose
from pages.layers.settings import Likeness, Settings, Statistics
from ui import state
from ui.look import Look
from ui.memory import jobs
from ui.picture.mount import composed, mount, write_beside
from ui.picture.picture import Picture
from ui.show import choice, picture, show_chart


def draw(look: Look) -> tuple[Sequence[Picture], None]:
    heads.follow()
    settings, attention = Settings(clicked=page_state.LAYERS_HEAD.get()), look.attention
    subject = (look.model.info.name, look.trace.text, look.second, look.kind)
    reading = None
    if len(attention.keys) > 1:
        table = jobs.result(("heads", *subject), lambda report: head_statistics(attention, report), "Reading every head")
        if table is None:
            return [], None
        reading = Statistics(table)
    board = composed(compose, look, settings, reading)
    for key in board.contents:
        mount(board, key, (lambda: heads.open_head(*choice(KEY)["value"])) if key == KEY else None)
    pictures = list(board.pictures)
    if reading and attention.layers * attention.heads > 1 and not look.beginner:
        with picture("The map of heads"):
            st.markdown("##### Which heads look alike")
            pictures += _alike(look, settings, subject)
    return pictures, None


def _alike(look: Look, settings: Settings, subject: tuple) -> Sequence[Picture]:
    attention = look.attention
    divergence = jobs.result(("alike", *subject), lambda report: head_divergence(attention, report), "Comparing heads")
    if divergence is None:
        return []
    board = composed(compose, look, settings, Likeness(divergence))
    left, right = st.columns([6, 5])
    with left:
        show_chart(
            board.pictures[0].drawn,
            MAP,
            on_select=lambda: _picked(attention.heads),
            selection_mode="points",
            config={"displayModeBar": False, "scrollZoom": False},
        )
    with right:
        write_beside(board)
        if ALIKE in board.contents:
            mount(board, ALIKE, lambda: heads.open_head(*divmod(choice(ALIKE)[0], attention.heads)))
    return board.pictures


def _picked(count: int) -> None:
    if points := state.selection(MAP).selection.points:
        heads.open_head(*divmod(points[0]["point_index"], count))
