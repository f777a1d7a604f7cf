"""Experiment "Switch off": what the model predicts without some of its parts, and where it looks, compared with before."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analysis import edge_effects
from pages.change import baseline, changes, choose, figures, recipes
from ui import state
from ui.look import Look
from ui.memory import jobs
from ui.parts import part
from ui.picture.picture import Picture
from ui.show import choice, picture, show
from ui.words import say, words
from viz import Card, Part, board

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

HERE = Path(__file__).parent
LINES = 64  # the most tokens a side for which every line is tried


def react(look: Look, current: list[str]) -> None:
    """Handle a click on the board, or on a line."""
    count = look.attention.heads
    match choice("change"):
        case {"part": "parts", "value": [row, column]} if column < count:
            changes.change(changes.click_head(look, current, row, column))
        case {"part": "parts", "value": [row, column]}:
            changes.change(changes.click_part(look, current, "fb"[column - count], row))
        case {"part": "after", "value": {"cut": pair, "heads": on}}:
            changes.change(changes.click_line(look, current, pair, on))
        case {"part": "edges", "value": pair}:
            changes.change(changes.click_edge(look, current, pair, all_heads()))
        case {"part": "changes", "value": value}:
            choose.click(current, value)
        case {"part": "dials", "value": [number, value]}:
            choose.turn(look, current, number, value)


def effects(look: Look, position: int | None) -> np.ndarray | None:
    """Return the effect of each part; None unless it is switched on, or while the parts are being tried."""
    if position is None or not state.TRY_ALL.get():
        return None
    subject = (look.model.info.name, look.trace.text, look.second, look.kind, position)

    def work(report: jobs.Report) -> np.ndarray:
        return recipes.effects_of(look.model, look.trace, look.kind, position, look.second, report)

    return jobs.result(("change", *subject), work, "Switching off one head after the other")


def all_heads() -> bool:
    """Return whether a line is cut in all heads of all layers."""
    return bool(state.ALL_HEADS.get())


def lines(look: Look, position: int | None) -> np.ndarray | None:
    """Return the effect of each line on the prediction; None while the lines are being tried, and with a notice for a long
    text."""
    assert position is not None, "asked where the model predicts"
    layer, head = (None, None) if all_heads() else (look.layer, look.head)
    longest = max(len(look.attention.queries), len(look.attention.keys))
    if longest > LINES:
        say(HERE, "lines too long", most=LINES, count=longest)
        return None
    subject = (look.model.info.name, look.trace.text, look.second, look.kind, position, layer, head)

    def work(report: jobs.Report) -> np.ndarray:
        return edge_effects(look.model, look.trace, position, layer, head, kind=look.kind, report=report)

    return jobs.result(("change-lines", *subject), work, "Cutting one line after the other")


def panel(look: Look, above: DeltaGenerator) -> list[Picture]:
    look = replace(look, options={})  # of every token: nothing is hidden or joined here
    current, pictures = changes.load(), list[Picture]()
    position = figures.predicted_position(look)
    tries_lines = choose.place_switches(HERE, look, position is not None)
    changed = changes.read(look, current)
    choose.warn_unfit(HERE, look, changed)
    part_effects = None
    with picture("The effect of each part"):
        part_effects = effects(look, position)
    rank, line_effects = "", None
    with picture("The place among all heads"):
        rank = baseline.rank(HERE, look, changed, position)
    with picture("The effect of each line"):
        line_effects = lines(look, position) if tries_lines else None
    cards = [
        Card([part("What is changed", choose.list_part, HERE, look, current)]),
        Card(
            [part("The board", figures.parts, HERE, look, changed, position, part_effects, pictures)],
            words(HERE, "title board"),
            6,
        ),
        Card(
            [part("The prediction", figures.prediction, HERE, look, changed, position, rank, pictures)],
            words(HERE, "title bars"),
            5,
        ),
        *figures.attention(HERE, look, changed, pictures),
        *figures.edges(HERE, look, position, line_effects, all_heads(), pictures),
        *(
            []
            if look.beginner
            else [Card([part("The dials", choose.head_dials, HERE, look, current)], words(HERE, "title dials"))]
        ),
        Card([Part("warning", None, words(HERE, "warning"))]),
    ]
    show(board(cards, "The model and its changes", answers="bars"), "change", chosen=lambda: react(look, current))
    return pictures
