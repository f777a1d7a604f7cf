"""View "Heatmap": one head, all heads of a layer, or two that are compared."""

from __future__ import annotations

import streamlit as st

from pages.attention import compare, recipes
from ui import state
from ui.look import Look, Picture

WAYS = ("one head", "all heads")


def heat(look: Look) -> Picture | None:
    what = WAYS[0]
    with st.container(horizontal=True, gap="medium"):
        if state.level() != "beginner" and not compare.on():
            what = st.segmented_control("Heatmap of", WAYS, default=what, required=True, key="heat", bind="query-params")
        way = compare.switch()
    if way != compare.NOTHING:
        return compare.picture(look, way)
    of_layer = look.name.rsplit(" ", 1)[0]
    options = {"layer": look.layer, "causal": look.causal, "title": of_layer}
    if what == "all heads":
        return Picture(recipes.a_layer, (look,), options, "heatmap", lambda: {"weights": look.seen[look.layer]})
    options |= {"head": look.head, "title": look.name}
    return Picture(recipes.one_head, (look,), options, "heatmap", lambda: {"weights": look.seen[look.layer][look.head]})
