"""Experiment "What wrote it": what each part of the model wrote towards a word, and where a head looked as it did."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from analysis import logit_attribution
from pages.change import changes
from pages.change import state as page_state
from pages.change.boards.wrote import KEY, chosen_cell
from pages.change.compose import compose, compose_unfit
from pages.change.question import ask, nothing_to_ask
from pages.change.settings import Refused, Settings, Unasked, Written
from pages.change.wrote import recipes
from ui import state
from ui.escaping import place_of
from ui.look import Look
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.show import choice

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

CELL = re.compile(r"(cross )?L(\d{1,4})(?: H(\d{1,4}))?")  # a cell in a link: L3 H1, cross L2 H0, L4 (its rest)


def panel(look: Look, above: DeltaGenerator) -> Sequence[Picture]:
    look, settings = replace(look, options={}), Settings()  # of every token: nothing is hidden or joined here
    changed = changes.apply(look, changes.load(), changes.other_text())
    mount_all(composed(compose_unfit, look, changed))
    if why := nothing_to_ask(look):
        return mount_all(composed(compose, look, settings, Unasked(why)))
    question = ask(look, changed.trace)
    try:
        table = logit_attribution(look.model, changed.trace, question.token, question.position, question.against)
    except ValueError as refused:
        return mount_all(composed(compose, look, settings, Refused(str(refused))))
    written = Written(question, changed, table)
    take_link(written)
    settings = Settings(wrote_cell=page_state.WROTE_CELL.get())
    board = composed(compose, look, settings, written)
    mount(board, KEY, react)
    state.keep(page_state.WROTE_CELL, cell_address(settings, written), None)
    return board.pictures


def react() -> None:
    """Select the cell that was clicked."""
    match choice(KEY):
        case {"part": "board", "value": [row, column]}:
            page_state.WROTE_CELL.set((row, column))


def take_link(written: Written) -> None:
    """Select the cell that the link names. A notice reports a cell that does not exist."""
    if (link_text := state.take_linked_value(page_state.WROTE_CELL)) is None:
        return
    columns, values = recipes.columns_of(written.rows), recipes.board_of(written.rows)
    match = CELL.fullmatch(link_text)
    part = "" if not match else "rest" if not match[3] else "cross" if match[1] else "attention"
    place = (part, int(match[3]) if match and match[3] else None)
    layer = place_of(match[2], written.numbers[: len(values) - 2]) if match else None
    if layer is not None and place in columns:
        page_state.WROTE_CELL.set((layer + 1, columns.index(place)))
    else:
        state.complain(page_state.WROTE_CELL, link_text, "the part")


def cell_address(settings: Settings, written: Written) -> str | None:
    """Return the text of the selected cell for a link."""
    clicked = settings.wrote_cell
    if clicked is None or chosen_cell(settings, written) != clicked:
        return None
    if not 0 < clicked[0] < len(recipes.board_of(written.rows)) - 1:
        return None
    part, head = recipes.columns_of(written.rows)[clicked[1]]
    number = written.numbers[clicked[0] - 1]
    return f"{'cross ' * (part == 'cross')}L{number}{'' if head is None else f' H{head}'}"
