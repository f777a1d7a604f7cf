"""The choice of a kind of attention, a layer and a head, shared by the pages that look through one head."""

from __future__ import annotations

import streamlit as st

from ui import state
from ui.look import KINDS, kind_of
from ui.memory import loaded
from ui.memory.favourites import favourite


def side_bar(name: str) -> None:
    """Pickers of kind, layer and head, in every link (a beginner sees the favourite head and no pickers)."""
    if state.level() == "beginner":
        return state.later("intermediate", "attention", "layer", "head")
    model = loaded.model(name)
    info = model.info
    if info.kind == "encoder-decoder":
        state.check_link("attention", KINDS, "the attention")
        st.sidebar.segmented_control(
            "Attention",
            KINDS,
            default=KINDS[0],
            required=True,
            key="attention",
            bind="query-params",
            width="stretch",
            wrap=False,
            help="Cross: from the target to the source. Encoder: within the source. Decoder: within the target.",
            on_change=forget_token,
        )
    kind = kind_of(info)
    first = favourite(model, kind)
    for choice in st.session_state.pop("favourites-next", ()):
        st.session_state[choice] = getattr(first, choice)
    in_decoder = kind in ("decoder", "cross")
    layers, heads = (info.decoder_layers, info.decoder_heads) if in_decoder else (info.layers, info.heads)
    left, right = st.sidebar.columns(2, gap="small")
    with left:
        one_of("layer", range(layers), first.layer)
    with right:
        one_of("head", range(heads), first.head)


def forget_token() -> None:
    st.session_state["token"] = None


def one_of(name: str, numbers: range, default: int) -> None:
    """A picker of a layer or a head by its number, shown and linked as L0, L1, … or H0, H1, …"""
    state.check_link(name, [f"{name[0].upper()}{number}" for number in numbers], f"the {name}")
    if name in st.session_state and st.session_state[name] not in numbers:
        st.session_state[name] = default  # chosen on a larger stack; without a word the browser would go on showing it
    letter = name[0].upper()
    st.selectbox(name.capitalize(), numbers, default, lambda number: f"{letter}{number}", key=name, bind="query-params")
    state.keep(name, f"{letter}{st.session_state[name]}", f"{letter}{default}")


def choose(layer: int, head: int) -> None:
    """Choose a head from a picture; the pickers in the side bar follow."""
    st.session_state["layer"], st.session_state["head"] = layer, head
    state.run_whole_page_next()
