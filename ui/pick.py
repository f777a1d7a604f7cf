"""The choice of a layer, a head and a token, shared by the pages that look through one head."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import streamlit as st

from ui import loaded, shell, state


@dataclass(frozen=True)
class Favourite:
    """The head that a newcomer should meet first, and its mean weight on the token before."""

    layer: int
    head: int
    previous: float


@lru_cache(maxsize=64)
def favourite(name: str) -> Favourite:
    """The head of a model that looks most at the token before."""
    scores = loaded.head_scores(name)
    best = scores.loc[scores["previous"].idxmax()]
    return Favourite(int(best["layer"]), int(best["head"]), float(best["previous"]))


def side_bar(name: str) -> None:
    """Pickers of layer and head, in every link (a beginner sees the favourite head and no pickers)."""
    if state.level() == "beginner":
        return
    first, info = favourite(name), loaded.model(name).info
    left, right = st.sidebar.columns(2, gap="small")
    with left:
        one_of("layer", range(info.layers), first.layer)
    with right:
        one_of("head", range(info.heads), first.head)


def one_of(name: str, numbers: range, default: int) -> None:
    """A picker of a layer or a head by its number, shown and linked as L0, L1, … or H0, H1, …"""
    state.check_link(name, [f"{name[0].upper()}{number}" for number in numbers], f"the {name}")
    if st.session_state.get(name) not in numbers:
        st.session_state.pop(name, None)  # chosen on a larger model
    letter = name[0].upper()
    st.selectbox(name.capitalize(), numbers, default, lambda number: f"{letter}{number}", key=name, bind="query-params")


def chosen_head(model) -> tuple[int, int]:
    """Layer and head as chosen, or the favourite (always the favourite for a beginner, who reads what that one does)."""
    first = favourite(model.info.name)
    if state.level() == "beginner":
        return first.layer, first.head
    return st.session_state.get("layer", first.layer), st.session_state.get("head", first.head)


def head(layer: int, head: int) -> None:
    """Choose a head from a picture; the pickers in the side bar follow."""
    st.session_state["layer"], st.session_state["head"] = layer, head
    shell.whole_page_next()


def token(position: int, trace) -> None:
    """Keep a token chosen; pressed again it is let go, and then, as for the last one, the newest is shown."""
    kept = st.session_state.get("token")
    st.session_state["token"] = None if position in (kept, len(trace.tokens) - 1) else position


def chosen_token(trace) -> int:
    """The token kept chosen, or the newest. A text that became shorter than that lets it go."""
    position, last = st.session_state.get("token"), len(trace.tokens) - 1
    if position is not None and (position > last or last == 0):
        position = st.session_state["token"] = None
    return last if position is None else position
