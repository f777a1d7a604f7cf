"""View "Heatmap": one head, all heads of a layer, or a difference."""

from __future__ import annotations

import streamlit as st

from ui import recipes, state
from ui.look import Look, Picture

WAYS = ("one head", "all heads", "difference")


def heat(look: Look) -> Picture:
    what = WAYS[0]
    if state.level() != "beginner":
        what = st.segmented_control("Heatmap of", WAYS, default=what, required=True, key="heat", bind="query-params")
    of_layer = look.name.rsplit(" ", 1)[0]
    options = {"layer": look.layer, "causal": look.causal, "title": of_layer}
    if what == "all heads":
        return Picture(recipes.a_layer, (look,), options, "heatmap", lambda: {"weights": look.seen[look.layer]})
    if what == "difference":
        count = look.seen.attention.heads
        other = st.selectbox("Less the head", range(count), (look.head + 1) % count, lambda h: f"H{h}", key="less")
        options |= {"heads": (look.head, other)}
        return Picture(
            recipes.two_heads, (look,), options, "heatmap", lambda: {"weights": look.seen[look.layer][[look.head, other]]}
        )
    options |= {"head": look.head, "title": look.name}
    return Picture(recipes.one_head, (look,), options, "heatmap", lambda: {"weights": look.seen[look.layer][look.head]})
