"""Part "One word": a word in several texts."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import streamlit as st
from scipy.spatial.distance import pdist

from analysis import occurrences
from analysis.projections import prepared
from pages.space import recipes, scene
from ui import state
from ui.choices import boxes
from ui.look import Look
from ui.memory import loaded
from ui.picture.picture import Picture
from ui.text import plain
from ui.words import say
from viz.views.space_view import short

# Of 19 words of two senses one of those that the shipped writer parts well: tests/pages/space/test_contexts.py measures it.
WORD = "left"
TEXTS = """She left the house in the morning.
The men left the town and went home.
He left his friends without a word.
He held the rope in his left hand.
She turned to the left.
He wore a ring on his left hand."""
MOST = 24  # texts


def draw(folder: Path, look: Look) -> list[Picture]:
    model, trace = look.model, look.trace
    pictures: list[Picture] = []
    left, right = st.columns([7, 4])
    with right:
        say(folder, "contexts")
        word = st.text_input("The word", WORD, key=state.CONTEXT_WORD.name, persist_state="session", max_chars=60)
        most = boxes.character_limit()
        typed = st.text_area(
            "Texts, one a line", TEXTS[:most], key=state.CONTEXTS.name, persist_state="session", height=150, max_chars=most
        )[:most]
        whole = st.toggle("All tokens of these texts", key=state.CONTEXT_ALL.name, help="Also show the other tokens, in grey.")
    texts = list(dict.fromkeys(text.strip() for text in [trace.text, *typed.splitlines()] if text.strip()))
    if len(texts) > MOST:
        right.caption(f"Only the first {MOST} of {len(texts)} texts are read.")
    texts = texts[:MOST]
    traces = [loaded.read(model.info.name, text) for text in texts]
    stack = next(iter(trace.hidden))
    places = occurrences(word, [reading.text for reading in traces], [reading.tokens for reading in traces])
    with left:
        if not word.strip():
            st.info("Type a word to follow through the texts.")
            return []
        if not places:
            st.info(f"“{plain(word)}” is in none of these texts. Write it into one, or choose another word.")
            return []
        chosen = scene.choose()
        others = [
            (t, i) for t, reading in enumerate(traces) for i, token in enumerate(reading.tokens) if whole and not token.special
        ]
        others = [(t, i) for t, i in others if not any(t == place.text and i in place.positions for place in places)]
        others = [others[i] for i in scene.thin_out(range(len(others)), len(traces[0].hidden[stack]), chosen)] if others else []
        names, of, states = recipes.word_points(traces, stack, word, others)
        arranged = scene.arrange((model.info.name, "word", word, tuple(texts), len(others), stack), states, chosen)
        numbered = [f"{i + 1}: {short(name, 40)}" for i, name in enumerate(names[: len(places)])]
        if arranged:
            pictures.append(
                scene.place(
                    "context-view", f"“{word}” in several texts", recipes.contexts,
                    tuple(replace(look, trace=trace, second="", chosen_token=None) for trace in traces),
                    {"stack": stack, "word": word, "others": others}, chosen, arranged, takes=("trace",), names=names,
                    hidden=states, columns={"token": names, "text": of}, values=numbered + [""] * len(others),
                )
            )  # fmt: skip
    if arranged:
        with right:
            compare(folder, word, numbered, states, chosen.measure, traces[0].attention[stack].numbers[-1])
            scene.faith(folder, arranged, chosen)
    return pictures


def compare(folder: Path, word: str, names: list[str], states: np.ndarray, measure: str, last: int) -> None:
    """Say which two places of the word are most alike in all dimensions, and which least, by the measure of the picture. The
    places of the word are the first of the states. last: the number of the last layer."""
    if len(names) < 2:
        say(folder, "context single", word=plain(word))
        return
    apart = [pdist(layer[: len(names)]) for layer in prepared(states, measure)]  # [layers + 1, pair]
    pairs = list(combinations(names, 2))
    near, far = (" and ".join(f"“{plain(name)}”" for name in pairs[i]) for i in (apart[-1].argmin(), apart[-1].argmax()))
    distances = [1 - layer**2 / 2 for layer in apart] if measure == "cosine" else apart  # √(2 − 2 cos) was the distance
    ends = sorted((distances[-1].min(), distances[-1].max()), reverse=measure == "cosine")  # the most alike first
    numbers = dict(zip(("first", "last", "highest", "lowest"), (distances[0].mean(), distances[-1].mean(), *ends), strict=True))
    say(
        folder, f"context pairs {measure}", word=plain(word), layer=last, near=near, far=far,
        **{name: f"{value:.2f}" if measure == "cosine" else f"{value:.3g}" for name, value in numbers.items()},
    )  # fmt: skip
