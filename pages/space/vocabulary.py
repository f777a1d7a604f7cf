"""Part "Vocabulary": the embeddings of words, before any layer: a map, nearest words, and analogies."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st

from analysis.embedding import chance_of_analogy, chance_of_nearest, vectors, word
from pages.space import recipes, scene
from ui import state
from ui.choices import boxes
from ui.look import Look
from ui.memory import jobs
from ui.picture.picture import Numbers, Picture
from ui.show import picture
from ui.text import plain
from ui.words import say
from viz.tokens import label, named

if TYPE_CHECKING:
    from models.language_model import LanguageModel

WORDS = (
    "king queen prince princess man woman boy girl dog cat horse cow river lake sea mountain "
    "red blue green one two three walked ran went walk run go"
)
MOST = 400  # words


def draw(folder: Path, look: Look) -> list[Picture]:
    pictures: list[Picture] = []
    left, right = st.columns([7, 4])
    with left:
        most = boxes.character_limit()
        typed = st.text_input(
            "Words, any list", WORDS[:most], key=state.VOCABULARY.name, persist_state="session", live="300ms", max_chars=most
        )
        words = list(dict.fromkeys(filter(None, re.split(r"[,;\s]+", (typed or "")[:most]))))
        if len(words) > MOST:
            st.caption(f"Only the first {MOST} of {len(words):,} words are shown.")
        words = words[:MOST]
        centred = False
        if state.level() != "beginner":
            with st.container(horizontal=True):
                centred = st.toggle("Subtract the mean", key=state.CENTRED.name, persist_state="session", help=MEAN)
                st.toggle("Parts of words too", key=state.WORD_PARTS.name, persist_state="session", help=PARTS)
        if len(words) < 3:
            st.info("Write at least three different words: two always lie on a line.")
        else:
            with picture("The map"):
                pictures += map_of(folder, look, words, centred)
    with right:
        with picture("The list of neighbours"):
            pictures += neighbours(folder, look, centred)
        with picture("The analogy"):
            pictures += relation(folder, look, centred)
    return pictures


MEAN = "Subtracts the mean of the whole vocabulary from each vector. What all vectors share makes any two of them seem alike."

PARTS = "Also lists numbers, punctuation and tokens that only continue a word. A small model has seldom met many of them."


def map_of(folder: Path, look: Look, words: list[str], centred: bool) -> list[Picture]:
    chosen = scene.choose(one_layer=True)
    hidden = vectors(look.model, words, centred)[None]
    arranged = scene.arrange((look.model.info.name, "vocabulary", tuple(words), centred), hidden, chosen)
    if not arranged:
        return []
    drawing = scene.place(
        "vocabulary-view", "Words as points", recipes.vocabulary, (look,), {"words": words, "centred": centred}, chosen, arranged,
        takes=("model",), names=words, hidden=hidden, columns={"word": words},
    )  # fmt: skip
    say(folder, "vocabulary", d=hidden.shape[-1], words=len(words))
    if state.level() != "beginner":
        scene.faith(folder, arranged, chosen)
    return [drawing]


def neighbours(folder: Path, look: Look, centred: bool) -> list[Picture]:
    st.markdown("##### Nearest words")
    say(folder, "nearest", vocabulary=f"{look.model.info.vocabulary:,}")
    text = st.text_input("Nearest to", "dog", key=state.NEAREST_TO.name, persist_state="session", live="300ms", max_chars=60)
    if not (text and text.strip()):
        return []
    explain(look.model, [text])
    only = words_only()
    options = {"word": text, "centred": centred, "words_only": only}
    listed = table("nearest-words", f"Words nearest to “{text}”", recipes.neighbours, look, options)
    chance = jobs.result(
        ("nearest by chance", *subject(look), text, centred, only),
        lambda report: chance_of_nearest(look.model, text, centred, only), "Drawing words at random",
    )  # fmt: skip
    if chance and len(chance.highest):
        facts = {"word": plain(text), "typical": written(chance.typical)}
        say_chance(folder, "chance nearest", listed, chance.highest, centred, **facts)
    return [listed]


def relation(folder: Path, look: Look, centred: bool) -> list[Picture]:
    st.markdown("##### Analogy")
    say(folder, "analogy")
    terms: list[str] = []
    places = zip(st.columns(3, gap="small"), ("From", "take away", "and add"), ("king", "man", "woman"), "abc", strict=True)
    for column, name, start, key in places:
        box = column.text_input(name, start, key=state.ANALOGY.of(key).name, persist_state="session", live="300ms", max_chars=60)
        terms.append((box or "").strip())
    if not all(terms):
        return []
    explain(look.model, terms)
    only = words_only()
    options = {"words": terms, "centred": centred, "words_only": only}
    listed = table("analogy", "{} − {} + {}".format(*terms), recipes.answers, look, options)
    chance = jobs.result(
        ("analogy by chance", *subject(look), centred, only),
        lambda report: chance_of_analogy(look.model, centred, only), "Drawing words at random",
    )  # fmt: skip
    if chance is not None and len(chance):
        say_chance(folder, "chance analogy", listed, chance, centred)
    return [listed]


def say_chance(folder: Path, heading: str, listed: Picture, highest: np.ndarray, centred: bool, **facts: object) -> None:
    """Say what chance gives for the cosines of a list, and how many of them are above that."""
    cosines = listed.drawn["cosine"]
    above = int((cosines > highest.max()).sum())
    say(folder, heading, draws=len(highest), least=written(highest.min()), most=written(highest.max()), **facts)
    say(folder, "more than chance" if above else "no more than chance", above=above, listed=len(cosines))
    if not (above or centred or state.level() == "beginner"):
        say(folder, "mean")


def subject(look: Look) -> tuple:
    """Return all that the embedding depends on."""
    return look.model.info.name, look.model.weights


def written(cosine: float) -> str:
    """Return a cosine with as many digits as the lists have at this level."""
    return f"{cosine:.{2 if state.level() == 'beginner' else 3}f}".replace("-", "−")


def words_only() -> bool:
    return not state.WORD_PARTS.get()


def explain(model: LanguageModel, texts: list[str]) -> None:
    """Say which words are several tokens."""
    for text in texts:
        read = word(model, text)
        if len(read.ids) > 1:
            pieces = ", ".join(f"“{plain(label(piece))}”" for piece in read.pieces)
            st.caption(f"“{plain(text)}” is several tokens here ({pieces}), so their mean is used.")


def table(key: str, title: str, recipe: Callable, look: Look, options: dict[str, Any]) -> Picture:
    """Draw words and their cosine (for a beginner: how alike they are) as a small table with bars."""

    def numbers() -> dict[str, Numbers]:
        ranks = {"place": range(1, len(drawing.drawn) + 1)}
        return {name: Numbers(drawing.drawn[name].to_numpy(), ("place",), ranks) for name in ("cosine", "text", "id")}

    drawing = Picture(recipe, (look,), options, key, numbers, title=title, takes=("model",))
    name = "How alike" if look.beginner else "Cosine"
    rows = [
        f"| {plain(named(text))} | {written(value)} &nbsp; {bar(value)} |"
        for text, value in zip(drawing.drawn["text"], drawing.drawn["cosine"], strict=True)
    ]
    st.container(key=key).markdown("\n".join([f"| Word | {name} |", "|:--|:--|", *rows]))
    return drawing


def bar(value: float) -> str:
    return f":primary[{'▰' * int(np.clip(round(10 * value), 0, 10))}]"
