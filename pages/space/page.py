"""Page "Space": tokens as points that move from layer to layer, one word in several texts, and the vectors of the vocabulary."""

from pathlib import Path

import streamlit as st

from pages.space import contexts, tokens, vocabulary
from ui import shell, shown, state
from ui.show import picture

HERE = Path(__file__).parent
PARTS = {"Tokens": tokens.draw, "One word": contexts.draw, "Vocabulary": vocabulary.draw}


def draw(model, trace) -> None:
    first = next(iter(PARTS))
    state.check_link("space", tuple(PARTS), "the part")
    if st.session_state.get("space", first) not in PARTS:
        st.session_state["space"] = first
    part = st.segmented_control(
        "Part", tuple(PARTS), default=first, required=True, key="space", bind="query-params", label_visibility="collapsed"
    )
    with picture(f"The part “{part}”"):
        PARTS[part](HERE, model, trace)


shown.side_bar()
shell.live(draw)
