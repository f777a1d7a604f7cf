"""View "Head": a layer's heads as lines from token to token."""

from __future__ import annotations

import streamlit as st

from ui import recipes, state
from ui.look import Look, Picture
from ui.show import choice


def lines(look: Look) -> Picture:
    seen, chosen = look.seen, st.session_state.get("token")
    alone = [look.head] if state.level() == "beginner" else None

    def react() -> None:
        match choice("head-view"):
            case {"token": ["from", position]}:
                st.session_state["token"] = seen.queries.groups[position][0]
            case {"token": None}:
                st.session_state["token"] = None

    return Picture(
        recipes.head_lines,
        (look,),
        {"layer": look.layer, "heads": alone, "chosen": None if chosen is None else seen.queries.index(chosen)},
        "head-view",
        lambda: {"weights": seen[look.layer] if alone is None else seen[look.layer][alone]},
        react,
    )
