"""View "Model": every head of the model as a thumbnail."""

from __future__ import annotations

import streamlit as st

from pages.attention import recipes
from ui import state
from ui.choices import heads
from ui.choices.widgets import one_of
from ui.look import Look
from ui.picture.picture import Picture
from ui.show import choice

FILTERS = dict(zip(state.ONLY.values, ("", "previous", "first", "current", "duplicate"), strict=True))
INDUCTION = (
    "Induction: how much each token looks at the tokens that followed its own earlier copies. With “cat sat … cat”, the second "
    "“cat” looks at “sat”. All earlier copies count (Olsson et al. 2022)."
)
CLEAR = 0.3  # the share of a head's attention with which it passes a filter


def all_heads(look: Look) -> Picture:
    left, right = st.columns(2)
    by = one_of(state.ORDER, state.ORDER.values, "the order", label="Order by", menu=True, place=left, help=INDUCTION)
    only = one_of(state.ONLY, state.ONLY.values, "heads that look at", label="Show heads that look at", menu=True, place=right)

    def react() -> None:
        state.VIEW.set("Head")
        heads.choose(*choice("model-view"))

    return Picture(
        recipes.all_heads,
        (look,),
        {"layer": look.layer, "head": look.head, "by": by, "filter": FILTERS[only], "clear": CLEAR},
        "model-view",
        lambda: {"weights": look.scope},
        react,
    )
