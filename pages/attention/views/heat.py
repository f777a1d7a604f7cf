"""View "Heatmap": one head, all heads of a layer, or a comparison of two."""

from __future__ import annotations

import streamlit as st

from pages.attention import compare, recipes
from ui import state
from ui.choices.widgets import one_of
from ui.device import is_phone
from ui.look import Look
from ui.picture.picture import Picture


def heat(look: Look) -> Picture | None:
    subject = state.HEAT.default
    with st.container(horizontal=True, gap="medium"):
        if look.beginner:
            state.later("intermediate", state.HEAT)
        elif not compare.is_on(look):
            subject = one_of(state.HEAT, state.HEAT.values, "the heatmap of", label="Heatmap of")
        way = compare.switch(look)
    if way != compare.NOTHING:
        return compare.picture(look, way)
    options = {"layer": look.layer, "causal": look.causal, "title": look.layer_name}
    if subject == "all heads":
        if is_phone():
            options["columns"] = 2
        return Picture(recipes.layer_heads, (look,), options, "heatmap", lambda: {"weights": look.scope[look.layer]})
    options |= {"head": look.head, "title": look.head_name}
    return Picture(recipes.one_head, (look,), options, "heatmap", lambda: {"weights": look.scope[look.layer][look.head]})
