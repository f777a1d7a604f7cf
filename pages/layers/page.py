"""Page "Layers": how attention changes from layer to layer, every head in numbers, and what each layer would predict."""

from pathlib import Path

import streamlit as st

from pages.layers import evolution, lens, statistics
from ui import pick, picker, shell, state
from ui.show import picture

HERE = Path(__file__).parent
PARTS = {"Evolution": evolution.draw, "Statistics": statistics.draw, "Lens": lens.draw}


def draw(model, trace) -> None:
    first = next(iter(PARTS))
    state.check_link("part", tuple(PARTS), "the part")
    if st.session_state.get("part", first) not in PARTS:
        st.session_state["part"] = first
    part = st.segmented_control(
        "Part", tuple(PARTS), default=first, required=True, key="part", bind="query-params", label_visibility="collapsed"
    )
    with picture(f"The part “{part}”"):
        PARTS[part](HERE, model, trace)


pick.side_bar(picker.in_use())
shell.live(draw)
