"""The cost and the savings of the cache of keys and values: its switch, and the measurement."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from analysis.step_cost import StepCost, step_cost
from analysis.step_time import Speeds, StepTime, speeds
from models.generation.strategy import Strategy
from models.language_model import LanguageModel
from pages.generate import state as page_state
from pages.generate.boards.cache import BOXES, TABLE, last_step
from pages.generate.compose import HERE, compose
from pages.generate.continuation import Continuation
from pages.generate.settings import Beginning, Cached, Cost, Grown, Measured, Settings
from ui import state
from ui.choices.widgets import switch
from ui.escaping import plain
from ui.look import Look
from ui.memory import jobs, loaded
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.show import picture
from ui.words import words

TIMES = 3  # a time is the median of so many readings
Timing = tuple[float, float, Speeds] | tuple[()]

_step_costs: WeakKeyDictionary[LanguageModel, dict[int, StepCost]] = WeakKeyDictionary()  # by tokens of the source, 0: none


def place(continuation: Continuation, look: Look, settings: Settings, grown: Grown) -> Sequence[Picture]:
    """Place a switch, and below it boxes, bytes, operations and milliseconds; return the pictures for download. grown: the
    present state of the text."""
    on = switch(page_state.GENERATE_CACHE, words(HERE, "cache switch"))
    state.keep(page_state.GENERATE_CACHE, on, False)
    if not on:
        return []
    step, board = last_step(grown), composed(compose, look, settings, Cached(grown))
    mount_all(board)
    if BOXES in board.contents:
        with picture("The cache"):  # the boxes stay
            costs(continuation, look, settings, len(step.tokens), len(step.source))
    return board.pictures


def costs(continuation: Continuation, look: Look, settings: Settings, read: int, source: int) -> None:
    """Place a table of the bytes, operations and milliseconds of one more token, at this length and at others."""
    try:
        cost = _costs(look.model, continuation.beginning.text, source)
    except ValueError as error:
        st.caption(plain(str(error)))
        return
    board = composed(compose, look, settings, Cost(cost, read, source))
    place = st.empty()  # the times come later
    with place:
        mount(board, TABLE)
    for key in board.contents:
        if key != TABLE:
            mount(board, key)
    timing = times(continuation, cost)
    if timing is None:
        return
    mount_all(composed(compose, look, settings, Measured(timing or None)))
    if timing:
        cached, uncached, machine_speeds = timing
        step_time = StepTime(cost, machine_speeds, read, cached, uncached)
        with place:
            mount(composed(compose, look, settings, Cost(cost, read, source, step_time)), TABLE)


def _costs(model: LanguageModel, text: str, source: int) -> StepCost:
    """Return the costs of a step: in a decoder for any text, in an encoder-decoder for a source of so many tokens."""
    by_source = _step_costs.setdefault(model, {})
    if source not in by_source:
        by_source[source] = step_cost(model, text if source else "The cat")
    return by_source[source]


def times(continuation: Continuation, cost: StepCost) -> Timing | None:
    """Measure the time of one more token, with the cache and without it; None until the measurement is done."""
    ids = continuation.ids
    return jobs.result(
        ("generate-times", *continuation.beginning, ids),
        lambda report: _measure(continuation.beginning, ids, cost, report),
        "Measuring a step",
    )


def _measure(beginning: Beginning, ids: tuple[int, ...], cost: StepCost, report: jobs.Report) -> Timing:
    """Return the median seconds of reading one more token, with the cache and without it, and how quick this machine is; () where
    the model ends its text here."""
    name, text, target, chat = beginning
    seconds: list[list[float]] = []
    with loaded.shelf.reading(name) as model:
        for share, cache in ((0.4, True), (0.7, False)):
            with closing(model.generate(text, Strategy(), TIMES + 1, target, ids, cache, chat=chat)) as steps:
                seconds.append([step.read.seconds for step in steps][1:])
            report(share, "Measuring a step")
        if not all(seconds):
            return ()
        return float(np.median(seconds[0])), float(np.median(seconds[1])), speeds(model, cost)
