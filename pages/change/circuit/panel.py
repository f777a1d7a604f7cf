"""Experiment "Circuit": the fewest heads and feed-forwards that keep a prediction, drawn, beside other sets of its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import streamlit as st

from analysis.behaviour import Node
from models.edits import SAMPLE, Edit, Head, Part, Skip
from pages.change import changes
from pages.change import state as page_state
from pages.change.boards import circuit as boards
from pages.change.circuit import recipes
from pages.change.circuit.choose import ask_circuit, ask_lines, search
from pages.change.circuit.settings import Settings
from pages.change.compose import HERE, compose
from pages.change.question import nothing_to_ask
from pages.change.settings import Refused, Unasked, Wired
from pages.change.settings import Settings as PageSettings
from ui.escaping import plain
from ui.look import Look
from ui.picture.board import Board
from ui.picture.mount import composed, mount, mount_all, write_beside
from ui.picture.picture import Picture
from ui.words import say, words
from viz.figures.circuit import all_lines

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def panel(look: Look, above: DeltaGenerator) -> Sequence[Picture]:
    look = replace(look, options={})
    if changes.load():
        say(HERE, "circuit without changes")
    if why := nothing_to_ask(look):
        return mount_all(composed(compose, look, PageSettings(), Unasked(why)))
    settings = ask_circuit(look)
    if settings is None:
        return []
    question = st.empty()
    with question:
        say(HERE, "circuit question", word=plain(settings.question.description))
    try:
        wiring = search(settings)
    except ValueError as refused:
        return mount_all(composed(compose, look, PageSettings(), Refused(str(refused))))
    if wiring is None:
        return []
    question.empty()
    return draw(look, settings, wiring)


def draw(look: Look, settings: Settings, wiring: recipes.Wiring) -> Sequence[Picture]:
    """Say what was found; draw the graph on the left, and the words, the table and the losses on the right."""
    top = st.container()
    left, right = st.columns([6, 5])
    with left:
        settings = ask_lines(settings, len(all_lines(wiring.edges, wiring.direct)))
    board = composed(compose, look, PageSettings(), Wired(settings, wiring))
    with top:
        place(board, boards.ENOUGH, boards.ORDER)
    with left:
        place(board, boards.READING, boards.GRAPH, boards.PATH, boards.DECODER)
    with right:
        write_beside(board)
        place_open_button(settings, wiring)
        numbers = words(HERE, "circuit numbers")  # at the levels that fold them
        with st.expander(numbers) if numbers else st.container():
            place(board, boards.TABLE, boards.SCALE)
            place(board, boards.LOST, boards.APART, boards.SUM)
    place(board, boards.WARNING)
    return board.pictures


def place(board: Board, *keys: str) -> None:
    """Place the board's contents under these keys."""
    for key in keys:
        if key in board.contents:
            mount(board, key)


def place_open_button(settings: Settings, wiring: recipes.Wiring) -> None:
    """Place a button that removes all other parts under "Switch off"."""
    if settings.fill == "other text":
        return
    removed = [node for node in wiring.circuit.nodes if node not in wiring.circuit.members]
    removals = [str(removal(node, settings.fill)) for node in removed]

    def open_experiment() -> None:
        changes.save(removals)
        page_state.EXPERIMENT.set(page_state.EXPERIMENT.default)

    st.button(
        words(HERE, "circuit open"), icon=":material/toggle_off:", on_click=open_experiment, help=words(HERE, "circuit open help")
    )


def removal(node: Node, fill: str) -> Edit:
    """Return the edit that removes a part. fill: what takes its place, "zero" or the mean."""
    if node.head is not None:
        return Head(node.layer, node.head, mean=None if fill == "zero" else SAMPLE, kind=node.kind)
    if fill == "zero":
        return Skip(node.layer, "feedforward", kind=node.kind)
    return Part(node.layer, None, SAMPLE, "feedforward", kind=node.kind)
