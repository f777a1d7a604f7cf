"""A beam search as it goes: the tree of what was looked at, and the best answers."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.generate.grown import Grown
from ui.look import Look
from ui.show import show_chart
from ui.words import say, words
from viz.figures.beams import WINDOW, Way, beam_tree

HERE = Path(__file__).parent


def place(grown: Grown, look: Look) -> None:
    """The search up to the step that is reached."""
    if not grown.search:
        say(HERE, "beams")
        return
    step = grown.search[max(0, grown.reached - 1)]
    search = step.search
    assert search is not None, "a step of a search"
    say(HERE, "tree", step=search.looked_at[0].length, width=step.strategy.beams)
    ways = [Way(one.number, one.parent, look.model.token_text(one.id), one.length, one.score, one.fate) for one in search.tree]
    show_chart(beam_tree(ways), "generate-tree")
    st.markdown(f"##### {words(HERE, 'answers' if step.end else 'beginnings')}")
    penalty = step.strategy.length_penalty
    rows = [
        {
            "text": one.text.strip() or "–",
            "tokens": len(one.ids),
            "log-probability": one.score,
            "score": one.score / len(one.ids) ** penalty,
        }
        for one in search.answers
    ]
    numbers = {name: st.column_config.NumberColumn(format="%.3f") for name in ("log-probability", "score")}
    st.dataframe(rows, hide_index=True, column_config=numbers)
    say(HERE, "score", penalty=f"{penalty:g}")
    if search.tree[-1].length > WINDOW:
        say(HERE, "window")


def best(grown: Grown) -> str:
    """What the best answer says, as far as it is reached."""
    return grown.search[max(0, grown.reached - 1)].text if grown.search else ""
