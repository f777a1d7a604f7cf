"""One word, followed through several texts."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from scipy.spatial.distance import pdist

from analysis import occurrences, word_states
from analysis.projections import prepared
from pages.space import scene, take_away
from ui import state
from ui.look import Look
from ui.memory import loaded
from ui.text import plain
from ui.words import say
from viz.views.space_view import short

if TYPE_CHECKING:
    from models.trace import Trace

# Of 19 words of two senses one of those that the shipped writer parts well: tests/pages/space/test_contexts.py measures it.
WORD = "left"
TEXTS = """She left the house in the morning.
The men left the town and went home.
He left his friends without a word.
He held the rope in his left hand.
She turned to the left.
He wore a ring on his left hand."""
MOST = 24  # texts


def draw(folder: Path, look: Look) -> None:
    model, trace = look.model, look.trace
    left, right = st.columns([7, 4])
    with right:
        say(folder, "contexts")
        word = st.text_input("The word", WORD, key=state.CONTEXT_WORD.name, persist_state="session", max_chars=60)
        written = st.text_area("Texts, one a line", TEXTS, key=state.CONTEXTS.name, persist_state="session", height=150)
        whole = st.toggle("All tokens of these texts", key=state.CONTEXT_ALL.name, help="Also show the other tokens, in grey.")
    texts = list(dict.fromkeys(one.strip() for one in [trace.text, *written.splitlines()] if one.strip()))
    if len(texts) > MOST:
        right.caption(f"Only the first {MOST} of {len(texts)} texts are read.")
    texts = texts[:MOST]
    traces = [loaded.read(model.info.name, text) for text in texts]
    stack = next(iter(trace.hidden))
    hidden = [one.hidden[stack] for one in traces]
    places = occurrences(word, [one.text for one in traces], [one.tokens for one in traces])
    with left:
        if not word.strip():
            st.info("Type a word to follow through the texts.")
            return
        if not places:
            st.info(f"“{plain(word)}” is in none of these texts. Write it into one, or choose another word.")
            return
        chosen = scene.choose()
        states = word_states(hidden, places)
        names = [snippet(traces[one.text], one.positions) for one in places]
        numbers = [f"{i + 1}: {short(name, 40)}" for i, name in enumerate(names)]
        others = [(t, i) for t, one in enumerate(traces) for i, token in enumerate(one.tokens) if whole and not token.special]
        others = [(t, i) for t, i in others if not any(t == one.text and i in one.positions for one in places)]
        if others:
            others = [others[i] for i in scene.thinned(range(len(others)), len(states), chosen)]
            states = np.concatenate([states, np.stack([hidden[t][:, i] for t, i in others], axis=1)], axis=1)
            names += [traces[t].tokens[i].text for t, i in others]
        made = scene.arranged((model.info.name, "word", word, tuple(texts), len(others), stack), states, chosen)
        if made:
            values = numbers + [""] * len(others)
            notes = [texts[t] for t in [one.text for one in places] + [t for t, _ in others]]
            labels = [f"{i + 1}: {name}" for i, name in enumerate(names[: len(places)])] + names[len(places) :]
            scene.view(made, labels, "context-view", values=values, notes=[short(one, 90) for one in notes])
            columns = {"token": [short(one, 60) for one in names], "text": notes}
            take_away.draw("word", made, names, states, columns, values, [(model, one) for one in traces])
    if made:
        with right:
            compared(folder, word, numbers, states, chosen.measure)
            scene.faith(folder, made, chosen)


def snippet(trace: Trace, positions: tuple[int, ...]) -> str:
    """The word with its neighbours, as it was written."""
    start, end = trace.tokens[positions[0]].start, trace.tokens[positions[-1]].end
    before = "".join(re.findall(r"\S*\s*$", trace.text[:start])[:1])
    after = re.match(r"\S+|\s*\S+", trace.text[end:])
    return (before + trace.text[start:end] + (after[0] if after else "")).strip()


def compared(folder: Path, word: str, names: list[str], states: np.ndarray, measure: str) -> None:
    """Which two places of the word, the first of the states, are alike in all dimensions, and which are not, by the measure of
    the picture."""
    if len(names) < 2:
        say(folder, "context single", word=plain(word))
        return
    apart = [pdist(layer[: len(names)]) for layer in prepared(states, measure)]  # [layers + 1, pair]
    pairs = list(combinations(names, 2))
    near, far = (" and ".join(plain(name) for name in pairs[i]) for i in (apart[-1].argmin(), apart[-1].argmax()))
    told = [1 - one**2 / 2 for one in apart] if measure == "cosine" else apart  # √(2 − 2 cos) was the distance
    ends = sorted((told[-1].min(), told[-1].max()), reverse=measure == "cosine")  # the most alike first
    numbers = dict(zip(("first", "last", "highest", "lowest"), (told[0].mean(), told[-1].mean(), *ends), strict=True))
    say(
        folder, f"context pairs {measure}", word=plain(word), layer=len(states) - 2, near=near, far=far,
        **{name: f"{value:.2f}" if measure == "cosine" else f"{value:.3g}" for name, value in numbers.items()},
    )  # fmt: skip
