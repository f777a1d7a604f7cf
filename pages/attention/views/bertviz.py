"""View "BertViz": its own head view, for the layers whose data fits."""

from __future__ import annotations

from typing import Any

import streamlit as st

from ui.look import Look
from ui.picture.picture import Picture
from viz.bertviz import bertviz_encoder_decoder_view, bertviz_head_view, layers_that_fit

HIGHEST = 900  # pixels; beyond, one scrolls


def bertviz(look: Look) -> Picture | None:
    attentions = shown_together(look)
    layers = max(one.layers for one in attentions.values())
    weights = sum(len(one.queries) * len(one.keys) for one in attentions.values())
    tokens = max(len(look.attention.queries), len(look.attention.keys))
    second = [i for i, token in enumerate(look.trace.tokens) if token.segment] if look.kind == "self" else []
    fit = layers_that_fit(layers, look.attention.heads, weights * (2 if second else 1), 1, around=look.layer)
    if not fit:
        st.info(
            f"BertViz carries every weight as text, and at {tokens:,} tokens not even one layer fits. Choose the view “Head”, or "
            "shorten the text."
        )
        return None
    if len(fit) < layers:
        few = f"layer {fit[0]}" if len(fit) == 1 else f"layers {fit[0]} to {fit[-1]}"
        st.caption(f"BertViz carries every weight as text. At {tokens:,} tokens, only {few} of the {layers} layers can be shown.")
    chosen: dict[str, Any] = {"layer": look.layer, "heads": [look.head], "theme": st.context.theme.type or "auto"}
    given: dict[str, Any] = {name: {layer: one[layer] for layer in fit if layer < one.layers} for name, one in attentions.items()}
    if "self" in given:
        page = bertviz_head_view(given["self"], look.trace.tokens, second=min(second, default=None), **chosen)
    else:
        given = {name: one for name, one in given.items() if one}
        tokens_of: dict[str, Any] = {"encoder_tokens": look.trace.tokens, "decoder_tokens": look.trace.target}
        chosen["first"] = look.kind
        tokens_of["cross_rows"] = look.trace.attention["cross"].rows
        page = bertviz_encoder_decoder_view(**given, **tokens_of, **chosen)
    return Picture(lambda *given: page, (look,), {}, "bertviz", dict, height=min(HIGHEST, 120 + 23 * tokens))


def shown_together(look: Look) -> dict:
    """The attentions that one page of BertViz can show beside the one that is looked at: those with as many heads."""
    return {name: one for name, one in look.trace.attention.items() if one.heads == look.attention.heads}
