"""The choice of a layer, a head and a token, shared by the pages that look through one head."""

from __future__ import annotations

import streamlit as st

from ui import loaded, state


def favourite_head(name: str) -> tuple[int, int]:
    """The head that a newcomer should meet first: the one that looks most at the token before."""
    scores = loaded.head_scores(name)
    best = scores.loc[scores["previous"].idxmax()]
    return int(best["layer"]), int(best["head"])


def favourite_score(name: str) -> float:
    """The mean weight that the favourite head gives to the token before."""
    return float(loaded.head_scores(name)["previous"].max())


def layer_and_head(model, title: str) -> tuple[int, int]:
    """Two pickers beside a heading (a beginner sees the heading alone, and the favourite head)."""
    layer, head = favourite_head(model.info.name)
    if state.level() == "beginner":
        st.markdown(f"##### {title}")
        return st.session_state.get("layer", layer), st.session_state.get("head", head)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="inline-pick"):
        st.markdown(f"##### {title}", width="content")
        st.space("stretch")
        layer = one_of("layer", range(model.info.layers), layer)
        head = one_of("head", range(model.info.heads), head)
    return layer, head


def one_of(name: str, numbers: range, default: int) -> int:
    """A picker of a layer or a head by its number, shown and linked as L0, L1, … or H0, H1, …"""
    state.check_link(name, [f"{name[0].upper()}{number}" for number in numbers], f"the {name}")
    if st.session_state.get(name) not in numbers:
        st.session_state.pop(name, None)  # chosen on a larger model
    return st.selectbox(
        name.capitalize(), numbers, index=default, key=name, bind="query-params", width=84, label_visibility="collapsed",
        format_func=lambda number: f"{name[0].upper()}{number}",
    )  # fmt: skip


def head(layer: int, head: int) -> None:
    st.session_state["layer"], st.session_state["head"] = layer, head


def token(position: int | None, trace) -> None:
    """Keep a token chosen; choosing the last one means: always the newest."""
    st.session_state["token"] = None if position is None or position >= len(trace.tokens) - 1 else position


def chosen_token(trace) -> int:
    position = st.session_state.get("token")
    last = len(trace.tokens) - 1
    return last if position is None or position > last else position
