"""Experiment "Steer": what the model writes and predicts while a direction between two kinds of texts is added to its stream."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from analysis.steering import direction
from models.language_model import LanguageModel
from pages.change.boards.steering import KEY, TOKENS, steered_position
from pages.change.compose import STEER, compose
from pages.change.settings import Settings, Steered
from pages.change.steer import choose, recipes
from pages.change.steer.push import Push
from ui import state
from ui.look import Look
from ui.memory import jobs, loaded
from ui.picture.mount import composed, mount
from ui.picture.picture import Picture
from ui.show import choice, picture

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

DIRECTIONS = 32  # directions of a model that are remembered


def panel(look: Look, above: DeltaGenerator) -> Sequence[Picture]:
    look = without_own_answer(replace(look, options={}))
    try:
        push = choose.ask_push(STEER, look)
        added = recipes.with_random(push.strength * direction_of(look, push))
    except ValueError as sentence:  # the pairs are no pairs
        st.info(str(sentence))
        return []
    pieces = None
    if steered_position(look) is not None:
        with picture("The text"):
            pieces = write(look, push, added)
    board = composed(compose, look, Settings(), Steered(push, added, pieces))
    mount(board, KEY, react)
    return board.pictures


_directions: WeakKeyDictionary[LanguageModel, dict[Any, np.ndarray]] = WeakKeyDictionary()


def direction_of(look: Look, push: Push) -> np.ndarray:
    """Return the direction, calculated once for each state of a model: every key press and every move of the slider needs it."""
    directions = _directions.setdefault(look.model, {})
    key = push.pairs, push.layer, look.model.condition
    if key not in directions:
        if len(directions) >= DIRECTIONS:
            directions.clear()
        directions[key] = direction(look.model, push.pairs, push.layer)
    return directions[key]


def without_own_answer(look: Look) -> Look:
    """Return the look without the model's own answer, because the model answers again here."""
    if not look.second or look.second != state.SAID.get():
        return look
    return replace(look, trace=loaded.read(look.model.info.name, look.trace.text), second="")


def react() -> None:
    match choice(KEY):
        case {"part": "dials", "value": [number, value]}:
            choose.turn(number, value)


def write(look: Look, push: Push, added: np.ndarray) -> list[list[str]] | None:
    """Return what the model writes without and with the push; None while it writes."""
    key = ("steer", look.model.info.name, look.trace.text, look.second, push, look.level)
    strategy = recipes.strategy_of(push.method, push.seed)

    def work(report: jobs.Report) -> list[list[str]]:
        return recipes.write(look.model, look.trace, added[:3], push.layer, look.second, strategy, TOKENS[look.level], report)

    return jobs.result(key, work, "Writing without and with the direction")
