"""The choice of a layer, a head and a token, shared by the pages that look through one head."""

from __future__ import annotations

import streamlit as st

from ui import loaded, state


def favourite_head(name: str) -> tuple[int, int]:
    """The head that a newcomer should meet first: the one that looks most at the token before."""
    scores = loaded.head_scores(name)
    best = scores.loc[scores["previous"].idxmax()]
    return int(best["layer"]), int(best["head"])


def layer_and_head(model, title: str) -> tuple[int, int]:
    """Two pickers beside a heading (a beginner sees the heading alone, and the favourite head)."""
    layer, head = favourite_head(model.info.name)
    if state.level() == "beginner":
        st.markdown(f"##### {title}")
        return st.session_state.get("layer") or layer, st.session_state.get("head") or head
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"##### {title}")
        layer = st.selectbox("Layer", range(model.info.layers), index=layer, key="layer", bind="query-params", width=110)
        head = st.selectbox("Head", range(model.info.heads), index=head, key="head", bind="query-params", width=110)
    return layer, head


def head(layer: int, head: int) -> None:
    st.session_state["layer"], st.session_state["head"] = layer, head


def token(position: int | None, trace) -> None:
    """Keep a token chosen; choosing the last one means: always the newest."""
    st.session_state["token"] = None if position is None or position >= len(trace.tokens) - 1 else position


def chosen_token(trace) -> int:
    position = st.session_state.get("token")
    last = len(trace.tokens) - 1
    return last if position is None or position > last else position
