"""Experiment "Switch off": parts of the model are switched off; what it then predicts, and where it looks, beside what it did."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from analysis import edge_effects
from pages.change import baseline, changes, choose, recipes, shown
from ui import state
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Picture
from ui.show import choice, part, picture, show
from ui.words import say, words
from viz import Card, Part, board

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

HERE = Path(__file__).parent
LINES = 64  # tokens a side up to which every line is tried


def react(look: Look, kept: list[str]) -> None:
    """What a press on the board, or on a line, does."""
    count = look.attention.heads
    match choice("change"):
        case {"part": "parts", "value": [row, column]} if column < count:
            changes.change(changes.press_head(look, kept, row, column))
        case {"part": "parts", "value": [row, column]}:
            changes.change(changes.press_part(look, kept, "fb"[column - count], row))
        case {"part": "after", "value": {"cut": pair, "heads": on}}:
            changes.change(changes.press_line(look, kept, pair, on))
        case {"part": "edges", "value": pair}:
            changes.change(changes.press_edge(look, kept, pair, everywhere()))
        case {"part": "changes", "value": value}:
            choose.press(kept, value)
        case {"part": "dials", "value": [number, value]}:
            choose.turn(look, kept, number, value)


def effects(look: Look, position: int | None) -> np.ndarray | None:
    """What each part does, all tried: None where nobody asked, or while that is under way."""
    if position is None or not state.TRY_ALL.get():
        return None
    subject = (look.model.info.name, look.trace.text, look.second, look.kind, position)

    def work(report: jobs.Report) -> np.ndarray:
        return recipes.effects_of(look.model, look.trace, look.kind, position, look.second, report)

    return jobs.result(("change", *subject), work, "Switching off one head after the other")


def everywhere() -> bool:
    """Whether a line is cut in all heads of all layers."""
    return bool(state.ALL_HEADS.get())


def lines(look: Look, position: int | None) -> np.ndarray | None:
    """What each line does for the prediction, all tried; None while that is under way, and of a long text, which is said."""
    assert position is not None, "asked where the model predicts"
    layer, head = (None, None) if everywhere() else (look.layer, look.head)
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
    kept, pictures = changes.kept(), list[Picture]()
    position = shown.asked(look)
    tries_lines = choose.ways(HERE, look, position is not None)
    changed = changes.read(look, kept)
    choose.what_does_not_fit(HERE, look, changed)
    tried = None
    with picture("The effect of each part"):
        tried = effects(look, position)
    rank, edges = "", None
    with picture("The place among all heads"):
        rank = baseline.rank(HERE, look, changed, position)
    with picture("The effect of each line"):
        edges = lines(look, position) if tries_lines else None
    cards = [
        Card([part("What is changed", choose.listed, HERE, look, kept)]),
        Card([part("The board", shown.parts, HERE, look, changed, position, tried, pictures)], words(HERE, "title board"), 6),
        Card(
            [part("The prediction", shown.prediction, HERE, look, changed, position, rank, pictures)],
            words(HERE, "title bars"),
            5,
        ),
        *shown.attention(HERE, look, changed, pictures),
        *shown.edges(HERE, look, position, edges, everywhere(), pictures),
        *([] if look.beginner else [Card([part("The dials", choose.head_dials, HERE, look, kept)], words(HERE, "title dials"))]),
        Card([Part("warning", None, words(HERE, "warning"))]),
    ]
    show(board(cards, "The model, and what is changed of it", answers="bars"), "change", chosen=lambda: react(look, kept))
    return pictures
