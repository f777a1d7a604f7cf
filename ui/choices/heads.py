"""The choice of a kind of attention, a layer and a head, shared by the pages that look through one head."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui import state
from ui.choices.chosen import chosen_kind
from ui.choices.token import keep
from ui.choices.widgets import one_of
from ui.escaping import place_of
from ui.memory import loaded
from ui.memory.favourites import favourite
from ui.state import Key


def side_bar(name: str) -> None:
    """Place the pickers of kind, layer and head, which are in every link (a beginner sees the favourite head and no pickers)."""
    if state.level() == "beginner":
        return state.later("intermediate", state.ATTENTION, state.LAYER, state.HEAD)
    model = loaded.model(name)
    info = model.info
    if info.kind == "encoder-decoder":
        one_of(
            state.ATTENTION,
            state.ATTENTION.values,
            "the attention",
            place=st.sidebar,
            width="stretch",
            wrap=False,
            help="Cross: from the target to the source. Encoder: within the source. Decoder: within the target.",
            on_change=lambda: keep(None),
        )
    kind = chosen_kind(info)
    first = favourite(model, kind)
    for key in state.FAVOURITES_NEXT.pop():
        key.set(getattr(first, key.name))
    in_decoder = kind in ("decoder", "cross")
    layers = info.numbers(in_decoder)
    beside = st.sidebar.container(horizontal=True, gap="small", wrap=False)
    layer = number_menu(state.LAYER, layers, first.layer, beside)
    heads = info.heads_of(layer, in_decoder)
    number_menu(state.HEAD, range(heads), min(first.head, heads - 1), beside)


def number_menu(key: Key[int], numbers: Sequence[int], default: int, place: DeltaGenerator) -> int:
    """Place a menu of layers or heads, shown and linked as L0, L1, … or H0, H1, …; return the index of the chosen one."""
    letter, value = key.name[0].upper(), key.in_address or ""
    if (number := place_of(value, numbers)) is not None:  # written by hand, without the letter
        state.take_as(key, number)

    def option_text(at: int) -> str:
        return f"{letter}{numbers[at]}"

    chosen = one_of(
        key, range(len(numbers)), f"the {key.name}", default=default, menu=True, format_option=option_text, place=place
    )
    state.keep(key, option_text(chosen), option_text(default))
    return int(chosen)


def choose(layer: int, head: int) -> None:
    """Choose a head from a picture; the pickers in the side bar follow."""
    state.LAYER.set(layer)
    state.HEAD.set(head)
    state.run_whole_page_next()
