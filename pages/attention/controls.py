"""The controls of the views of page "Attention", and their values."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.attention import compare
from pages.attention import state as page_state
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
    """Place the controls of a view, and return their values."""
    of_head, on = page_state.HEADS_ON.get()
    window = page_state.WINDOW.get()
    if needs_window(look, view):
        page_state.WINDOW.set(window := follow(window, look))
    theme = (st.context.theme.type or "auto") if view == "BertViz" else "auto"
    return Settings(
        view,
        heads=tuple(on),
        of_head=of_head,
        single=single(look, view),
        key=state.KEPT_KEY.get(),
        window=window,
        theme=theme,
        **CONTROLS[view](look),
    )


def single(look: Look, view: str) -> int | None:
    """Return the head that a beginner chose; place the row of heads above a view that has none of its own."""
    count = look.attention.counts[look.layer]
    if not look.beginner or count < 2:
        return None
    if view == "Head":
        return page_state.SINGLE.get()
    chosen = one_of(
        page_state.SINGLE,
        range(count),
        "the head",
        label=f"Head (layer {look.number(look.layer)})",
        default=look.head,
        format_option=lambda head: f"H{head}",
        persist_state="session",
    )
    return int(chosen)


def shade(look: Look) -> dict[str, Any]:
    if look.beginner:
        state.later("intermediate", page_state.SHADE)
        return {}
    return {"shade": one_of(page_state.SHADE, page_state.SHADE.values, "the shade by", label="Shade by")}


def order(look: Look) -> dict[str, Any]:
    left, right = st.columns(2)
    by = one_of(page_state.ORDER, page_state.ORDER.values, "the order", label="Order by", menu=True, place=left, help=INDUCTION)
    only = one_of(
        page_state.ONLY, page_state.ONLY.values, "heads that look at", label="Show heads that look at", menu=True, place=right
    )
    return {"order": by, "only": only}


def query(look: Look) -> dict[str, Any]:
    tokens = look.attention.rows
    names = row_names(tokens) or [listed(token.text, token.fragment) for token in tokens]
    page_state.QUERY.set(look.token)  # the selected token of every page; a choice here selects it there too
    position = st.selectbox(
        "Query",
        range(len(tokens)),
        format_func=lambda i: f"{i} {names[i]}",
        key=page_state.QUERY.name,
        on_change=lambda: keep(page_state.QUERY.get()),
    )
    return {"query": position}


def heat(look: Look) -> dict[str, Any]:
    subject = page_state.HEAT.default
    if look.beginner:
        state.later("intermediate", page_state.HEAT, page_state.COMPARE)
        compare.leave()
        return {"heat": subject}
    with st.container(horizontal=True, gap="medium"):
        if not compare.is_on(look):
            subject = one_of(page_state.HEAT, page_state.HEAT.values, "the heatmap of", label="Heatmap of")
        compare.switch()
    return {"heat": subject}


def none(look: Look) -> dict[str, Any]:
    return {}


CONTROLS = {"Head": none, "Reading": shade, "Model": order, "Query-key": query, "Heatmap": heat, "BertViz": none}
