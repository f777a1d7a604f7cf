"""The second text: its box, and ready pairs of texts that have other answers because of a word or two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from ui import state
from ui.choices import boxes
from ui.memory import trainings
from ui.text import plain

if TYPE_CHECKING:
    from models.language_model import ModelInfo


@dataclass(frozen=True)
class Pair:
    """A clean and a corrupt text. target: what an encoder-decoder has said to both."""

    clean: str
    corrupt: str
    target: str = ""


def change_words(clean: str, before: str, after: str, target: str = "") -> Pair:
    """A text, and the same with a few words changed."""
    return Pair(clean, clean.replace(before, after), target)


PAIRS = {  # by the name of a model that ships, or else by kind
    "writer": (
        change_words(state.DEFAULT_TEXT, "ran into", "ran up"),
        change_words("Tom gave Anna a red ball. Anna thanked Tom and threw the red", "ball", "apple"),
        change_words("The girl was tired, so", "girl", "boy"),
        change_words("Mary went to the window. Then Mary went to the", "window", "garden"),
    ),
    "filler": (
        change_words("Once upon a MASK, there was a little girl.", "Once upon", "Sitting on"),
        change_words("Tom has a red ball. Anna wants the red MASK.", "ball", "car"),
        Pair("The girl lost her book, and MASK was sad.", "The boy lost his book, and MASK was sad."),
        change_words("He opened the MASK and went out into the garden.", "opened", "crossed"),
        change_words("He could not see, for his MASK were closed.", "for his", "for the"),
    ),
    "translator": (
        change_words("The black cat is sleeping under the table.", "cat", "dog", "Le chat noir dort sous la table."),
        change_words("I am tired.", "I am", "We are", "Je suis fatigué."),
        change_words("Where is the station?", "station", "key", "Où est la gare ?"),
        change_words("She gave him a book.", "book", "dog", "Elle lui a donné un livre."),
    ),
    "decoder": (
        change_words("When Mary and John went to the store, John gave a drink to", "John gave", "Mary gave"),
        change_words("The capital of France is", "France", "Italy"),
        change_words("The girl was tired, so", "girl", "boy"),
    ),
    "encoder": (
        change_words("Paris is the capital of MASK.", "Paris", "Rome"),
        Pair("The girl lost her book, and MASK was sad.", "The boy lost his book, and MASK was sad."),
    ),
    "encoder-decoder": (change_words("translate English to German: The house is old.", "house", "dog"),),
}


def known(info: ModelInfo) -> list[Pair]:
    """The pairs for a model: those of one that ships work on it, those of another are to be tried."""
    if trainings.examples(info.name) or info.labels:  # trained here, on a task of its own; or its answers are no words
        return []
    mask = info.mask or "…"
    return [
        Pair(one.clean.replace("MASK", mask), one.corrupt.replace("MASK", mask), one.target)
        for one in PAIRS.get(info.name, PAIRS[info.kind])
    ]


def write(info: ModelInfo, text: str) -> str:
    """The box of the second text, and beside it the ready pairs; what is written in it."""
    begin(info, text)
    with st.container(key="texts-box", horizontal=True, vertical_alignment="bottom", gap="small", wrap=False):
        other = boxes.one_line(state.OTHER_TEXT, "The second text", "Your text with a word changed …", labelled=True)
        if pairs := known(info):
            st.menu_button(
                "Pairs", list(range(len(pairs))), key=state.PAIR.name, icon=":material/lightbulb:", type="tertiary",
                on_click=take, args=(pairs,), format_func=lambda i: plain(f"{pairs[i].clean} / {pairs[i].corrupt}"),
            )  # fmt: skip
    return other


def begin(info: ModelInfo, text: str) -> None:
    """A second text that nobody wrote is that of the ready pair, or else the text itself, in which one changes a word. While a
    model is being read, another one is in use, which may have no such pair."""
    key, copied = state.OTHER_TEXT, state.OTHER_TEXT.of("copied")
    last = key.of("last").get() if key.of("last").held else None
    written = key.get() if key.held else last if last is not None else key.asked
    ready = {pair.clean: pair.corrupt for pair in known(info)}
    others = {pair.corrupt.replace("MASK", info.mask or "…") for each in PAIRS.values() for pair in each}
    untouched = written is None or written == text == copied.get()
    if text in ready and (untouched or (written in others and written not in ready.values())):
        boxes.change(key, ready[text])
        copied.set(None)
    elif written is None:
        boxes.change(key, text)
        copied.set(text)


def take(pairs: list[Pair]) -> None:
    """Write both texts of a pair into their boxes, and forget what was chosen of the others."""
    pair = pairs[state.PAIR.get()]
    boxes.change(state.TEXT, pair.clean)
    boxes.change(state.OTHER_TEXT, pair.corrupt)
    if pair.target or state.TARGET.held:
        boxes.change(state.TARGET, pair.target)
    state.COVERED.set([])
    for key in (state.TEXTS_ANSWER, state.TEXTS_AGAINST, state.TEXTS_PLACE):
        key.set(None)
    forget()


def forget() -> None:
    """No square is chosen, and none is tried."""
    state.TEXTS_CELL.set("")
    state.TEXTS_TRIED.set(None)
