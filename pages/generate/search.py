"""A beam search, step by step: the choice of a beam, and the boards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from pages.generate import choose, parts, run
from pages.generate import state as page_state
from pages.generate.boards.search import ANSWERS
from pages.generate.compose import compose
from pages.generate.continuation import Continuation
from pages.generate.settings import Answers, Beam, Searched, Searching, Settings, Tree, Unsearched
from ui import state
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.board import Table
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.show import choice, picture
from viz.figures.beams import WINDOW

QUICK, SHORT = 20_000_000, 128  # parameters, and tokens of the text
COLUMNS = {name: st.column_config.NumberColumn(format="%.3f") for name in ("log-probability", "score")}


def open_with_one(continuation: Continuation, look: Look, settings: Settings) -> None:
    """Begin a search without a click, once for each text, where it takes about a second."""
    quick = look.level == "intermediate" and look.model.info.parameters <= QUICK and len(look.trace.read) <= SHORT
    untouched = not (continuation.opened or continuation.run or continuation.search or continuation.trouble)
    if quick and untouched and not state.JOB.get():  # no model is still loading
        continuation.opened = True
        continuation.begin(settings.strategy, settings.most)
        continuation.reached = WINDOW  # the tree from its root


def place(continuation: Continuation, look: Look, settings: Settings) -> Sequence[Picture]:
    """Place the search up to the step on screen, and return the pictures for download."""
    if not continuation.search:
        label = run.run_label(continuation, beams=True)
        return mount_all(composed(compose, look, settings, Unsearched(label)))
    step = continuation.search[max(0, continuation.reached - 1)]
    ended = (continuation.why or step.end) if continuation.reached >= len(continuation.search) else ""
    searched = Searched(continuation.beginning, step, continuation.reached, ended)
    mount_all(composed(compose, look, settings, Searching(searched)))
    numbers = range(1, len(searched.search.answers) + 1)
    beam = (
        one_of(page_state.GENERATE_BEAM, numbers, "the beam", label="Beam that is looked at", menu=True, width=choose.WIDTH) - 1
    )
    state.keep(page_state.GENERATE_BEAM, beam + 1, 1)
    settings = replace(settings, beam=beam)
    pictures = [*mount_all(composed(compose, look, settings, Tree(searched)))]
    with picture("The beam"):
        pictures += look_at_beam(continuation, look, settings, searched)
    board = composed(compose, look, settings, Answers(searched))
    for key, content in board.contents.items():
        if key == ANSWERS and isinstance(content, Table):
            st.dataframe(content.rows, hide_index=True, column_config=COLUMNS)
        else:
            mount(board, key)
    return pictures


def look_at_beam(continuation: Continuation, look: Look, settings: Settings, searched: Searched) -> Sequence[Picture]:
    """Place the text of one beam, and where the chosen head looked for each of its tokens."""
    beam = continuation.beam(searched.search.answers[settings.beam].ids)
    if beam.run:
        if run.read_again(beam) is None:
            return []
        beam.end_run()
    board = composed(compose, look, settings, Beam(beam.grown()))
    return mount_all(board, {parts.BOARD: lambda: parts.look_at(choice(parts.BOARD), beam, look)})


def best_text(continuation: Continuation) -> str:
    """Return the text of the best answer at the step on screen."""
    return continuation.search[max(0, continuation.reached - 1)].text if continuation.search else ""
