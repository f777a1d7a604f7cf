"""View "BertViz": its own head view, for the layers whose data fits."""

from __future__ import annotations

import streamlit as st

from ui.look import Look


def bertviz(look: Look) -> None:
    from viz.bertviz import bertviz_head_view, layers_that_fit

    attention, tokens = look.seen.attention, look.seen.attention.queries
    if look.kind == "cross":
        st.info("BertViz is shown here for one text: choose Encoder or Decoder in the side bar.")
        return
    fit = layers_that_fit(attention.layers, attention.heads, len(tokens), around=look.layer)
    if not fit:
        st.info(f"BertViz carries every weight as text, and at {len(tokens)} tokens not even one layer fits: shorten it.")
        return
    if len(fit) < attention.layers:
        few = f"layer {fit[0]}" if len(fit) == 1 else f"layers {fit[0]} to {fit[-1]}"
        st.caption(f"BertViz carries every weight as text: of {attention.layers} layers at {len(tokens)} tokens, {few} fit here.")
    theme = st.context.theme.type or "auto"
    page = bertviz_head_view({one: attention[one] for one in fit}, tokens, layer=look.layer, heads=[look.head], theme=theme)
    st.iframe(page, height=min(900, 120 + 23 * len(tokens)))
