"""The vectors that words begin with, before any layer: a map of some words, their nearest, and analogies."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import analogy, nearest
from analysis.embedding import vectors, word
from pages.space import scene, take_away
from ui import state
from ui.look import Look
from ui.show import picture
from ui.text import plain
from ui.words import say
from viz.tokens import label, named

if TYPE_CHECKING:
    import pandas as pd

    from models.language_model import LanguageModel

WORDS = (
    "king queen prince princess man woman boy girl dog cat horse cow river lake sea mountain "
    "red blue green one two three walked ran went walk run go"
)
MOST = 400  # words


def draw(folder: Path, look: Look) -> None:
    model = look.model
    left, right = st.columns([7, 4])
    with left:
        written = st.text_input("Words, any list", WORDS, key=state.VOCABULARY.name, persist_state="session", live="300ms")
        words = list(dict.fromkeys(re.split(r"[,;\s]+", (written or "").strip())))
        words = [one for one in words if one][:MOST]
        centred = False
        if state.level() != "beginner":
            with st.container(horizontal=True):
                centred = st.toggle("Subtract the mean", key=state.CENTRED.name, persist_state="session", help=MEAN)
                st.toggle("Parts of words too", key=state.WORD_PARTS.name, persist_state="session", help=PARTS)
        if len(words) < 3:
            st.info("Write at least three different words: two always lie on a line.")
        else:
            with picture("The map"):
                map_of(folder, model, words, centred, right)
    with right:
        with picture("The list of neighbours"):
            neighbours(folder, model, centred)
        with picture("The analogy"):
            relation(folder, model, centred)


MEAN = "Subtracts the mean of the whole vocabulary from each vector. What all vectors share makes any two of them seem alike."

PARTS = "Also lists numbers, punctuation and tokens that only continue a word. A small model has seldom met many of them."


def map_of(folder: Path, model: LanguageModel, words: list[str], centred: bool, side: DeltaGenerator) -> None:
    chosen = scene.choose(one_layer=True)
    found = vectors(model, words, centred)[None]
    made = scene.arranged((model.info.name, "vocabulary", tuple(words), centred), found, chosen)
    if not made:
        return
    read = [word(model, one) for one in words]
    notes = ["one token" if len(one.ids) == 1 else "mean of " + ", ".join(label(piece) for piece in one.pieces) for one in read]
    scene.view(made, words, "vocabulary-view", stages=["embedding"], notes=notes)
    take_away.draw("vocabulary", made, words, found, {"word": words}, None, [(model, None)])
    say(folder, "vocabulary", d=found.shape[-1], words=len(words))
    if state.level() != "beginner":
        scene.faith(folder, made, chosen)


def neighbours(folder: Path, model: LanguageModel, centred: bool) -> None:
    st.markdown("##### Nearest words")
    say(folder, "nearest", vocabulary=f"{model.info.vocabulary:,}")
    text = st.text_input("Nearest to", "dog", key=state.NEAREST_TO.name, persist_state="session", live="300ms", max_chars=60)
    if text and text.strip():
        explain(model, [text])
        table(nearest(model, text, 8, centred=centred, words_only=words_only()))


def relation(folder: Path, model: LanguageModel, centred: bool) -> None:
    st.markdown("##### Analogy")
    say(folder, "analogy")
    given: list[str] = []
    boxes = zip(st.columns(3, gap="small"), ("From", "take away", "and add"), ("king", "man", "woman"), "abc", strict=True)
    for column, name, start, key in boxes:
        box = column.text_input(name, start, key=state.ANALOGY.of(key).name, persist_state="session", live="300ms", max_chars=60)
        given.append((box or "").strip())
    if all(given):
        explain(model, given)
        a, b, c = given
        table(analogy(model, a, b, c, top=5, centred=centred, words_only=words_only()))


def words_only() -> bool:
    return not state.WORD_PARTS.get()


def explain(model: LanguageModel, texts: list[str]) -> None:
    """Say which words are no single token."""
    for text in texts:
        read = word(model, text)
        if len(read.ids) > 1:
            pieces = ", ".join(f"“{plain(label(piece))}”" for piece in read.pieces)
            st.caption(f"“{plain(text)}” is several tokens here ({pieces}), so their mean is used.")


def table(found: pd.DataFrame) -> None:
    """Words and their cosine (a beginner reads how alike they are), as a small table with bars."""
    digits, name = (2, "How alike") if state.level() == "beginner" else (3, "Cosine")
    rows = [
        f"| {plain(named(text))} | {value:.{digits}f} &nbsp; {bar(value)} |"
        for text, value in zip(found["text"], found["cosine"], strict=True)
    ]
    st.markdown("\n".join([f"| Word | {name} |", "|:--|:--|", *rows]))


def bar(value: float) -> str:
    return f":primary[{'▰' * int(np.clip(round(10 * value), 0, 10))}]"
