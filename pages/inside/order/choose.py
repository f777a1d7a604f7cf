"""The order in which the words stand: as typed, shuffle, or moved one by one. It is in the link."""

from __future__ import annotations

import re

import streamlit as st

from analysis.word_order import keeps_pieces, shuffle
from ui import state
from ui.choices.widgets import number
from ui.look import Look
from ui.memory import visitors

SEEDS = 9999


def order_of(count: int) -> tuple[int, ...]:
    """The order that is chosen of so many words. What a link asks for in vain is told of; what another text no longer has is
    let go."""
    if (asked := state.once(state.WORD_ORDER)) is not None:
        state.WORD_ORDER.set(asked)
        if asked and read(asked, count) is None:
            state.complain(state.WORD_ORDER, asked, "the order of the words")
    order = read(state.WORD_ORDER.get(), count)
    if order is None:
        state.WORD_ORDER.set("")
    state.keep(state.WORD_ORDER, state.WORD_ORDER.get(), "")
    return tuple(range(count)) if order is None else order


def read(text: str, count: int) -> tuple[int, ...] | None:
    """An order as it stands in a link; None of what is no order of so many words, and of the one as typed."""
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})*", text, re.ASCII):
        return None
    order = tuple(map(int, text.split(".")))
    return order if sorted(order) == list(range(count)) != list(order) else None


def keep(order: tuple[int, ...] | list[int]) -> None:
    """Have the words in this order."""
    state.WORD_ORDER.set("" if list(order) == sorted(order) else ".".join(map(str, order)))


def buttons(look: Look, order: tuple[int, ...]) -> None:
    """Back to the text as typed, and a random order. The number that it is drawn from grows with each press."""

    @visitors.hold
    def draw(step: int) -> None:
        seed = min(max(int(state.ORDER_SEED.get()) + step, 0), SEEDS)
        state.ORDER_SEED.set(seed)
        keep(random_order(look, len(order), seed))

    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="order-buttons"):
        st.button("As typed", icon=":material/undo:", on_click=keep, args=(sorted(order),), disabled=list(order) == sorted(order))
        st.button("Shuffle", icon=":material/shuffle:", on_click=draw, args=(1,))
        if not look.beginner:
            number(state.ORDER_SEED, "Seed", 0, SEEDS, 0, width=130, on_change=draw, args=(0,))


def random_order(look: Look, count: int, seed: int) -> tuple[int, ...]:
    """A random order in which the words stay the same pieces, where there is one: the first word may have to stay."""
    text = look.trace.text
    order = shuffle(count, seed)
    if count > 2 and not keeps_pieces(look.model, text, order):
        rest = shuffle(count, seed, first=1)
        return rest if keeps_pieces(look.model, text, rest) else order
    return order
