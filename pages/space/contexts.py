"""One word, followed through several texts."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import streamlit as st

from analysis import occurrences, word_states
from pages.space import scene, take_away
from ui import loaded
from ui.text import plain
from ui.words import say
from viz.space_view import short

WORD = "bank"
TEXTS = """She put her money in the bank.
The bank lent him a hundred pounds.
They sat on the bank of the river.
The boat lay near the muddy bank.
A bank of cloud hid the sun."""
MOST = 24  # texts


def draw(folder: Path, model, trace) -> None:
    left, right = st.columns([7, 4])
    with right:
        say(folder, "contexts")
        word = st.text_input("The word", WORD, key="context-word", persist_state="session", max_chars=60)
        written = st.text_area("Texts, one a line", TEXTS, key="contexts", persist_state="session", height=150)
        whole = st.toggle("All tokens of these texts", key="context-all", help="Also show the other tokens, in grey.")
    texts = list(dict.fromkeys(one.strip() for one in [trace.text, *written.splitlines()] if one.strip()))
    if len(texts) > MOST:
        right.caption(f"The first {MOST} of {len(texts)} texts are read.")
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
            take_away.draw("word", made, names, states, columns, values)
    if made:
        with right:
            compared(folder, word, numbers, states[:, : len(places)])
            scene.faith(folder, made, chosen)


def snippet(trace, positions: tuple[int, ...]) -> str:
    """The word with its neighbours, as it was written."""
    start, end = trace.tokens[positions[0]].start, trace.tokens[positions[-1]].end
    before = re.search(r"\S*\s*$", trace.text[:start])[0]
    after = re.match(r"\S+|\s*\S+", trace.text[end:])
    return (before + trace.text[start:end] + (after[0] if after else "")).strip()


def compared(folder: Path, word: str, names: list[str], states: np.ndarray) -> None:
    """Which two places of the word are alike in all dimensions, and which are not."""
    if len(names) < 2:
        say(folder, "context single", word=plain(word))
        return
    unit = states / np.maximum(np.linalg.norm(states, axis=-1, keepdims=True), 1e-12)
    cosines = unit @ unit.swapaxes(1, 2)
    pairs = np.triu_indices(len(names), 1)
    first, last = (cosines[layer][pairs] for layer in (0, -1))
    near, far = ([plain(names[one[i]]) for one in pairs] for i in (last.argmax(), last.argmin()))
    say(
        folder, "context pairs", word=plain(word), layer=len(states) - 2, first=f"{first.mean():.2f}", last=f"{last.mean():.2f}",
        near=" and ".join(near), far=" and ".join(far), highest=f"{last.max():.2f}", lowest=f"{last.min():.2f}",
    )  # fmt: skip
