"""What is told of a text that has grown: why it ended, what was dropped, and whether it goes round."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import streamlit as st

from analysis import escape
from analysis.loops import Escape
from pages.generate.grown import Grown
from ui.look import Look
from ui.text import plain
from ui.words import words
from viz import percent
from viz.tokens import named

HERE = Path(__file__).parent


def at_its_end(grown: Grown, look: Look) -> str:
    """Why the text stands where it does, and what was dropped: words for right below it."""
    if not grown.steps:
        return ""
    last, why = grown.steps[-1], grown.ended or grown.why
    paragraphs = [words(HERE, f"ended {why}", count=f"{len(grown.steps):,}")] if why and not grown.run else []
    if last.dropped:
        paragraphs.append(words(HERE, "dropped", count=f"{last.dropped:,}", room=f"{look.model.room:,}"))
    return "\n\n".join(paragraphs)


def going_round(grown: Grown, look: Look) -> None:
    """Whether it goes round, and what would have led it elsewhere."""
    if remedy := escape(grown.steps):
        st.info(in_circles(remedy, grown, look), icon=":material/laps:")


def in_circles(remedy: Escape, grown: Grown, look: Look) -> str:
    """What a text says over and over, and what would have led it elsewhere."""
    piece = "".join(look.model.token_text(id) for id in remedy.loop.ids).strip()
    facts = {"piece": plain(piece), "rounds": f"{remedy.loop.rounds:.1f}", "length": len(remedy.loop.ids)}
    facts |= {
        "penalty": f"{remedy.penalty:.2f}",
        "temperature": f"{remedy.temperature:.2f}",
        "chance": percent(1 - remedy.chance),
    }
    sentences = [words(HERE, "loop", **facts)]
    if np.isfinite(remedy.penalty):
        facts["other"] = plain(named(look.model.token_text(remedy.id)))
        facts["said"] = plain(named(grown.steps[remedy.step].token.text))
        sentences.append(words(HERE, "loop penalty" if remedy.penalty > 1 else "loop likeliest", **facts))
    else:
        sentences.append(words(HERE, "loop no penalty", **facts))
    if 0 < remedy.temperature < np.inf:
        sentences.append(words(HERE, "loop temperature", **facts))
    return " ".join(sentences)
