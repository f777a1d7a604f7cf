"""The part "Order": the words of the text in another order, and the model's results with and without its positions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from analysis.word_order import word_spans
from pages.inside import state as page_state
from pages.inside.boards.order import why_none
from pages.inside.compose import compose
from pages.inside.order import choose, drawings, kept
from pages.inside.order.drawings import BOARD, CHIPS
from pages.inside.settings import Chips, Orders, Settings, Unmovable
from ui.choices.token import keep
from ui.look import Look
from ui.memory import visitors
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.show import choice


def draw(look: Look) -> Sequence[Picture]:
    """Draw the words, and below them the predictions, maps and vectors of both orders; return the pictures."""
    if why_none(look):
        return mount_all(composed(compose, look, Settings(), Unmovable()))
    order = choose.order_of(len(word_spans(look.trace.text)))
    stored = kept.readings(visitors.me(), look.model, look.trace, look.second, order)
    chips = composed(compose, look, Settings(), Chips(order, stored.orders.get(True)))
    mount(chips, CHIPS, lambda: choose.keep(choice(CHIPS)["order"]))
    choose.buttons(look, order)
    reading = Orders(order, stored.orders, stored.note, bool(page_state.ORDER_SEED.get()))
    board = composed(compose, look, Settings(), reading)
    return [*chips.pictures, *mount_all(board, {BOARD: partial(react, look)})]


def react(look: Look) -> None:
    """Follow the token of the row of a map that was clicked."""
    press: Any = choice(BOARD)
    if isinstance(press["value"], list) and press["part"].startswith("map"):
        keep(drawings.window(look).rows[press["value"][0]])
