"""View "Model": every head of the model as a thumbnail."""

from __future__ import annotations

import streamlit as st

from pages.attention import recipes
from ui.choices import heads
from ui.look import Look
from ui.picture.picture import Picture
from ui.show import choice

ORDERS = ("layer", "similarity", "pattern", "entropy", "distance", "previous", "first", "induction")
FILTERS = {"all": "", "token before": "previous", "first token": "first", "itself": "current", "earlier copies": "duplicate"}
INDUCTION = (
    "Induction: how much a head looks at what followed earlier copies of the token that looks. With “cat sat … cat”, the second "
    "“cat” looks at “sat”. All earlier copies count (Olsson et al. 2022)."
)
CLEAR = 0.3  # of a head's attention, and a filter lets it through


def all_heads(look: Look) -> Picture:
    left, right = st.columns(2)
    by = left.selectbox("Order by", ORDERS, key="order", bind="query-params", help=INDUCTION)
    only = right.selectbox("Show heads that look at", tuple(FILTERS), key="only", bind="query-params")

    def react() -> None:
        st.session_state["view"] = "Head"
        heads.choose(*choice("model-view"))

    return Picture(
        recipes.all_heads,
        (look,),
        {"layer": look.layer, "head": look.head, "by": by, "filter": FILTERS[only], "clear": CLEAR},
        "model-view",
        lambda: {"weights": look.scope},
        react,
    )
