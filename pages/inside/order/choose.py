"""The order of the words: as typed, shuffled, or moved one by one. It is in the link."""

from __future__ import annotations

import re

import streamlit as st

from analysis.word_order import keeps_pieces, shuffle
from pages.inside import state as page_state
from ui import state
from ui.choices.widgets import number
from ui.look import Look
from ui.memory import visitors

SEEDS = 9999
TYPED = "typed"  # in the link, the order as typed; a link without an order has two words exchanged


def order_of(count: int) -> tuple[int, ...]:
    """Return the chosen order of `count` words; without a choice, two words are exchanged. An invalid order in a link is
    reported; an order for another text is dropped."""
    if (link := state.take_linked_value(page_state.WORD_ORDER)) is not None:
        page_state.WORD_ORDER.set(link)
        if link not in ("", TYPED) and read(link, count) is None:
            state.complain(page_state.WORD_ORDER, link, "the order of the words")
    order = read(page_state.WORD_ORDER.get(), count)
    if order is None and page_state.WORD_ORDER.get() != TYPED:
        page_state.WORD_ORDER.set("")
        order = exchanged(count)
    state.keep(page_state.WORD_ORDER, page_state.WORD_ORDER.get(), "")
    return tuple(range(count)) if order is None else order


def exchanged(count: int) -> tuple[int, ...]:
    """Return an order in which two of `count` words have changed places: at one and at two thirds of the text."""
    order, first, second = list(range(count)), count // 3, 2 * count // 3
    order[first], order[second] = order[second], order[first]
    return tuple(order)


def read(text: str, count: int) -> tuple[int, ...] | None:
    """Return the order that a link names; None for an invalid one, and for the order as typed."""
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})*", text, re.ASCII):
        return None
    order = tuple(map(int, text.split(".")))
    return order if sorted(order) == list(range(count)) != list(order) else None


def keep(order: tuple[int, ...] | list[int]) -> None:
    """Set the order of the words."""
    page_state.WORD_ORDER.set(TYPED if list(order) == sorted(order) else ".".join(map(str, order)))


def buttons(look: Look, order: tuple[int, ...]) -> None:
    """Draw the buttons for the order as typed and for a random order, whose seed grows with each click."""

    @visitors.hold
    def draw(step: int) -> None:
        seed = min(max(int(page_state.ORDER_SEED.get()) + step, 0), SEEDS)
        page_state.ORDER_SEED.set(seed)
        keep(random_order(look, len(order), seed))

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="order-buttons"):
        st.button("As typed", icon=":material/undo:", on_click=keep, args=(sorted(order),), disabled=list(order) == sorted(order))
        st.button("Shuffle", icon=":material/shuffle:", on_click=draw, args=(1,))
        if not look.beginner:
            number(page_state.ORDER_SEED, "Seed", 0, SEEDS, 0, width=130, on_change=draw, args=(0,))


def random_order(look: Look, count: int, seed: int) -> tuple[int, ...]:
    """Return a random order in which the words stay the same pieces, if there is one: the first word may have to stay."""
    text = look.trace.text
    order = shuffle(count, seed)
    if count > 2 and not keeps_pieces(look.model, text, order):
        rest = shuffle(count, seed, first=1)
        return rest if keeps_pieces(look.model, text, rest) else order
    return order
