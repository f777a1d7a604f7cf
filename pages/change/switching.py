"""Experiment "Switch off": what the model predicts without some of its parts, and where it looks, compared with before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from analysis import edge_effects
from pages.change import baseline, changes, choose, figures, recipes
from pages.change import state as page_state
from pages.change.boards.switching import KEY, LINES, longest
from pages.change.compose import HERE, compose, compose_unfit
from pages.change.live import PARTS, after_click, compose_from, join, values_of
from pages.change.settings import Settings, Switched
from ui.choices import heads
from ui.live.connect import Live
from ui.look import Look
from ui.memory import jobs
from ui.picture.mount import composed, mount_all
from ui.picture.picture import Picture
from ui.show import choice, picture

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator


def react(look: Look, settings: Settings) -> None:
    """Handle a click on the board, or on a line."""
    click, current = choice(KEY), list(settings.changes)
    match click:
        case {"part": "changes", "value": "undo"}:
            changes.undo()
        case _ if (after := changes.after_click(look, current, click, changes.other_text(), all_heads())) is not None:
            changes.save(after)
            if not look.beginner and (place := pressed_head(look, click)):  # the head that is pressed is the head that is shown
                heads.choose(*place)


def pressed_head(look: Look, click: object) -> tuple[int, int] | None:
    """Return the layer and the head that a click on the board is on; None for other clicks."""
    match click:
        case {"part": "parts", "value": [int(layer), int(head)]} if 0 <= head < look.attention.heads:
            return layer, head
    return None


def effects(look: Look, position: int | None) -> np.ndarray | None:
    """Return the effect of each part; None if the switch is off, or while the parts are being tried."""
    if position is None or not page_state.TRY_ALL.get():
        return None
    subject = (look.model.info.name, look.trace.text, look.second, look.kind, position)

    def work(report: jobs.Report) -> np.ndarray:
        return recipes.effects_of(look.model, look.trace, look.kind, position, look.second, report)

    return jobs.result(("change", *subject), work, "Switching off one head after the other")


def all_heads() -> bool:
    """Return whether a line is cut in all heads of all layers."""
    return bool(page_state.ALL_HEADS.get())


def lines(look: Look, position: int | None) -> np.ndarray | None:
    """Return the effect of each line on the prediction; None while the lines are being tried, and for a long text."""
    assert position is not None, "asked where the model predicts"
    layer, head = (None, None) if all_heads() else (look.layer, look.head)
    if longest(look) > LINES:
        return None
    subject = (look.model.info.name, look.trace.text, look.second, look.kind, position, layer, head)

    def work(report: jobs.Report) -> np.ndarray:
        return edge_effects(look.model, look.trace, position, layer, head, kind=look.kind, report=report)

    return jobs.result(("change-lines", *subject), work, "Cutting one line after the other")


def panel(look: Look, above: DeltaGenerator) -> tuple[Sequence[Picture], Live | None]:
    """Draw the experiment; return its pictures, and what the line needs unless every part or every line is tried."""
    current = changes.load()
    look = changes.through_changed_head(replace(look, options={}), current)  # of every token: nothing is hidden or joined here
    position = figures.predicted_position(look)
    tries_lines = choose.place_switches(HERE, look, position is not None)
    changed = changes.apply(look, current, changes.other_text())
    unfit = composed(compose_unfit, look, changed)
    mount_all(unfit)
    part_effects = ranking = line_effects = None
    with picture("The effect of each part"):
        part_effects = effects(look, position)
    with picture("The place among all heads"):
        ranking = baseline.rank(look, changed, position, bool(page_state.TRY_ALL.get()))
    suggested = None
    with picture("The head to begin with"):
        suggested = None if current else baseline.beginning(look, position, tries_lines or bool(page_state.TRY_ALL.get()))
    with picture("The effect of each line"):
        line_effects = lines(look, position) if tries_lines else None
    settings = Settings(tuple(current), bool(page_state.CHANGES_BEFORE.get()), tries_lines, all_heads())
    board = composed(compose, look, settings, Switched(changed, part_effects, ranking, line_effects, suggested))
    pictures = mount_all(board, {KEY: partial(react, look, settings)})
    if tries_lines or page_state.TRY_ALL.get():
        return pictures, None
    values = values_of(settings, changes.other_text())
    return pictures, Live(compose_from, join(unfit, board), values, changer=after_click, parts=PARTS)
