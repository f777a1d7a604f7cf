"""Page "Type": the tokens of a text, the model's predictions, and where a head looks, redrawn at every keystroke."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import streamlit as st

from pages.type import answer, model_line, welcome
from pages.type import state as page_state
from pages.type.clicks import react
from pages.type.compose import Settings, compose
from pages.type.picking import PARTS, picked
from pages.type.settings import BAR_COUNTS, BARS, TEMPERATURES, compose_from
from ui import shell, state
from ui.choices import heads, picker, scope
from ui.choices.widgets import slider
from ui.live.connect import Live
from ui.look import Look
from ui.memory import loaded
from ui.picture.mount import composed, mount
from ui.picture.take_away import take_away
from ui.words import heading_for

HERE = Path(__file__).parent


def controls() -> Settings:
    """Draw temperature and number of bars in the side bar, at the levels that have them, and return both."""
    temperature, bars = 1.0, BARS[state.level()]
    with st.sidebar:
        if state.level() == "beginner":
            state.later("intermediate", page_state.TEMPERATURE)
        else:
            temperature = slider(page_state.TEMPERATURE, "Temperature", *TEMPERATURES, 0.1)
        if state.level() != "expert":
            state.later("expert", page_state.BAR_COUNT)
        else:
            bars = int(slider(page_state.BAR_COUNT, "Predictions", *BAR_COUNTS, 1))
    return Settings(temperature, bars)


def draw(look: Look) -> Live:
    answer.place(look)
    board = composed(compose, look, settings)
    mount(board, "board", lambda: react(look))
    take_away("board", lambda: board.pictures)
    return Live(compose_from, board, asdict(settings), picked, parts=PARTS)


def beneath() -> None:
    """Place what stands between the heading and the boxes."""
    model_line.place()
    welcome.offer()


heads.side_bar(picker.in_use())
scope.side_bar()
settings = controls()
info = loaded.info(picker.in_use())
case = "image" if "image" in info.reads else "labels" if info.labels else "hidden" if info.kind == "encoder" and info.mask else ""
shell.live(HERE, draw, beneath=beneath, purpose=heading_for(HERE, "purpose", case), reads_images=True)
