"""Part "Vocabulary": the embeddings of words, before any layer: a map, nearest words, and analogies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

import streamlit as st

from analysis.embedding import chance_of_nearest, vectors
from pages.space import analogies, choose
from pages.space import state as page_state
from pages.space.analogies import mount_chance, mount_list, subject
from pages.space.boards.vocabulary import ABOUT, FAITH, MAP, NEAREST
from pages.space.compose import HERE, compose
from pages.space.settings import Map, Nearest, NearestByChance, Settings
from ui.choices import text_boxes
from ui.look import Look
from ui.memory import jobs
from ui.picture.mount import composed, mount, mount_all
from ui.picture.picture import Picture
from ui.show import picture
from ui.words import say

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

WORDS = (
    "king queen prince princess man woman boy girl dog cat horse cow river lake sea mountain "
    "red blue green one two three walked ran went walk run go"
)
MOST = 400  # words
MEAN = "Subtracts the mean of the whole vocabulary from each vector. What all vectors share makes any two of them seem alike."
PARTS = "Also lists numbers, punctuation and tokens that only continue a word. A small model has seldom met many of them."


def draw(look: Look) -> Sequence[Picture]:
    pictures: list[Picture] = []
    left, right = st.columns([7, 4])
    with left:
        most = text_boxes.character_limit()
        typed = st.text_input(
            "Words, any list", WORDS[:most], key=page_state.VOCABULARY.name, persist_state="session", live="300ms", max_chars=most
        )
        words = list(dict.fromkeys(filter(None, re.split(r"[,;\s]+", (typed or "")[:most]))))
        if len(words) > MOST:
            st.caption(f"Only the first {MOST} of {len(words):,} words are shown.")
        settings = pick_settings(look)
        with picture("The map"):
            pictures += map_of(look, words[:MOST], settings, right)
    if look.beginner:  # who first look at the map alone
        right, left = st.expander("Words most like a word, and sums of words").columns(2)
    with right, picture("The list of neighbours"):
        pictures += neighbours(look, settings)
    with left, picture("The analogy"):
        pictures += analogies.draw(look, settings)
    return pictures


def pick_settings(look: Look) -> Settings:
    """Draw the switches of this part at the levels that have them, and return their values."""
    centred = False
    if not look.beginner:
        with st.container(horizontal=True):
            centred = st.toggle("Subtract the mean", key=page_state.CENTRED.name, persist_state="session", help=MEAN)
            st.toggle("Parts of words too", key=page_state.WORD_PARTS.name, persist_state="session", help=PARTS)
    return Settings(centred=centred, words_only=not page_state.WORD_PARTS.get())


def map_of(look: Look, words: list[str], settings: Settings, beside: DeltaGenerator) -> Sequence[Picture]:
    """Draw the map of these words. beside: where beginners read about it."""
    if len(words) < 3:
        return mount_all(composed(compose, look, settings, Map(words, None)))
    chosen, centred = choose.projection(one_layer=True), settings.centred
    hidden = vectors(look.model, words, centred)[None]
    arranged = choose.arrange((look.model.info.name, "vocabulary", tuple(words), centred), hidden, chosen)
    if not arranged:
        return []
    settings = Settings(chosen, choose.followed(MAP), centred=centred)
    board = composed(compose, look, settings, Map(words, arranged))
    folded = [key for key in board.contents if key.startswith((ABOUT, FAITH))] if look.level == "intermediate" else []
    for key in board.contents:
        if key in folded:
            continue
        with beside if look.beginner and key != MAP else nullcontext():
            mount(board, key, choose.follow(MAP) if key == MAP else None)
    if folded:
        with st.expander("How far to trust this picture"):
            for key in folded:
                mount(board, key)
    return board.pictures


def neighbours(look: Look, settings: Settings) -> Sequence[Picture]:
    st.markdown("##### Nearest words")
    say(HERE, "nearest", vocabulary=f"{look.model.info.vocabulary:,}")
    text = st.text_input("Nearest to", "dog", key=page_state.NEAREST_TO.name, persist_state="session", live="300ms", max_chars=60)
    if not (text and text.strip()):
        return []
    board, choices = composed(compose, look, settings, Nearest(text)), (settings.centred, settings.words_only)
    mount_list(board, NEAREST)
    chance = jobs.result(
        ("nearest by chance", *subject(look), text, *choices),
        lambda report: chance_of_nearest(look.model, text, *choices),
        "Drawing words at random",
    )
    if chance and len(chance.highest):
        cosines = board.pictures[0].drawn["cosine"].to_numpy()
        compared = composed(compose, look, settings, NearestByChance(text, cosines, chance))
        mount_chance(look, compared)
    return board.pictures
