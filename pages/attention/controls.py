"""The controls of the views of page "Attention", and what is chosen by them."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.attention import compare
from pages.attention.settings import Settings
from pages.attention.window import follow, needs_window
from ui import state
from ui.choices.token import keep
from ui.choices.widgets import one_of
from ui.look import Look
from viz.tokens import listed, row_names

INDUCTION = (
    "Induction: how much each token looks at the tokens that followed its own earlier copies. With “cat sat … cat”, the second "
    "“cat” looks at “sat”. All earlier copies count (Olsson et al. 2022)."
)


def settings(look: Look, view: str) -> Settings:
    """Place the controls of a view, and return what is chosen."""
    of_head, on = state.HEADS_ON.get()
    window = state.WINDOW.get()
    if needs_window(look, view):
        state.WINDOW.set(window := follow(window, look))
    theme = (st.context.theme.type or "auto") if view == "BertViz" else "auto"
    return Settings(
        view, heads=tuple(on), of_head=of_head, key=state.KEPT_KEY.get(), window=window, theme=theme, **CONTROLS[view](look)
    )


def shade(look: Look) -> dict[str, Any]:
    if look.beginner:
        state.later("intermediate", state.SHADE)
        return {}
    return {"shade": one_of(state.SHADE, state.SHADE.values, "the shade by", label="Shade by")}


def order(look: Look) -> dict[str, Any]:
    left, right = st.columns(2)
    by = one_of(state.ORDER, state.ORDER.values, "the order", label="Order by", menu=True, place=left, help=INDUCTION)
    only = one_of(state.ONLY, state.ONLY.values, "heads that look at", label="Show heads that look at", menu=True, place=right)
    return {"order": by, "only": only}


def query(look: Look) -> dict[str, Any]:
    tokens = look.attention.rows
    names = row_names(tokens) or [listed(token.text, token.fragment) for token in tokens]
    state.QUERY.set(look.token)  # the selected token of every page; a choice here selects it there too
    position = st.selectbox(
        "Query",
        range(len(tokens)),
        format_func=lambda i: f"{i} {names[i]}",
        key=state.QUERY.name,
        on_change=lambda: keep(state.QUERY.get()),
    )
    return {"query": position}


def heat(look: Look) -> dict[str, Any]:
    subject = state.HEAT.default
    with st.container(horizontal=True, gap="medium"):
        if look.beginner:
            state.later("intermediate", state.HEAT)
        elif not compare.is_on(look):
            subject = one_of(state.HEAT, state.HEAT.values, "the heatmap of", label="Heatmap of")
        compare.switch(look)
    return {"heat": subject}


def none(look: Look) -> dict[str, Any]:
    return {}


CONTROLS = {"Head": none, "Reading": shade, "Model": order, "Query-key": query, "Heatmap": heat, "BertViz": none}
