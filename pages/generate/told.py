"""What is told of a text that has grown: why it ended, what was dropped, whether it goes round, and its branches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import escape
from analysis.loops import Escape
from pages.generate.grown import Grown, chance
from ui import state
from ui.look import Look
from ui.text import plain
from ui.words import words
from viz import percent
from viz.tokens import named

HERE = Path(__file__).parent


def what_happened(grown: Grown, look: Look) -> None:
    """Why it ended, what was dropped, and whether it goes round."""
    if not grown.steps:
        return
    last = grown.steps[-1]
    if grown.ended:
        st.info(words(HERE, f"ended {grown.ended}", count=len(grown.steps)), icon=":material/stop_circle:")
    if last.dropped:
        st.info(words(HERE, "dropped", count=f"{last.dropped:,}", room=f"{look.model.room:,}"), icon=":material/content_cut:")
    if found := escape(grown.steps):
        st.info(in_circles(found, grown, look), icon=":material/laps:")


def in_circles(found: Escape, grown: Grown, look: Look) -> str:
    """What a text says over and over, and what would have led it elsewhere."""
    piece = "".join(look.model.token_text(id) for id in found.loop.ids).strip()
    facts = {"piece": plain(piece), "rounds": f"{found.loop.rounds:.1f}", "length": len(found.loop.ids)}
    facts |= {"penalty": f"{found.penalty:.2f}", "temperature": f"{found.temperature:.2f}", "chance": percent(1 - found.chance)}
    told = [words(HERE, "loop", **facts)]
    if np.isfinite(found.penalty):
        facts["other"] = plain(named(look.model.token_text(found.id)))
        facts["said"] = plain(named(grown.steps[found.step].token.text))
        told.append(words(HERE, "loop penalty" if found.penalty > 1 else "loop likeliest", **facts))
    else:
        told.append(words(HERE, "loop no penalty", **facts))
    if 0 < found.temperature < np.inf:
        told.append(words(HERE, "loop temperature", **facts))
    return " ".join(told)


def branches(grown: Grown, look: Look) -> None:
    """The branches side by side, to return to."""
    if len(grown.lines) < 2:
        return

    def chosen() -> None:
        grown.current, grown.at = state.selection(key), None

    told = [plain(line[-1].text.strip()) if line else "–" for line in grown.lines]
    key = f"generate-line-{grown.current}-{hash(tuple(told))}"  # a radio whose labels have changed no longer knows what is chosen
    chances = [f"{len(line)} tokens, {chance(line):.2f} nats".replace("-", "−") for line in grown.lines]
    st.radio(
        words(HERE, "branches"), range(len(grown.lines)), grown.current, told.__getitem__, key=key, on_change=chosen,
        captions=None if look.beginner else chances,
    )  # fmt: skip
