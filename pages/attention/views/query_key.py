"""View "Query-key": how one query comes to its weights, number by number."""

from __future__ import annotations

import numpy as np
import streamlit as st

from analysis import query_key
from pages.attention import recipes
from ui import state
from ui.choices.token import keep
from ui.look import Look
from ui.picture.picture import Picture
from ui.show import choice
from viz.tokens import listed, row_names


def numbers(look: Look) -> Picture:
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

    def parts() -> dict[str, np.ndarray]:
        numbers = vars(query_key(look.attention, look.layer, look.head, position))
        return {name: np.asarray(value) for name, value in numbers.items() if value is not None}

    def react() -> None:
        state.KEPT_KEY.set(choice("query-key-view")["key"])

    key = state.KEPT_KEY.get()
    options = {"layer": look.layer, "head": look.head, "position": position}
    options |= {} if key is None or key >= len(look.attention.keys) else {"key": key}
    return Picture(recipes.numbers, (look,), options, "query-key-view", parts, react)
