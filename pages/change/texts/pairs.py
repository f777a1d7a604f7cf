"""The second text: its box, and ready pairs of texts whose answers differ because of a word or two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import streamlit as st

from pages.change import state as page_state
from pages.change.texts.offers import offers
from ui import state
from ui.choices import text_boxes
from ui.escaping import plain
from ui.look import Look
from ui.memory import trainings

if TYPE_CHECKING:
    from models.info import ModelInfo

OFFERED = 3  # words that could be changed


@dataclass(frozen=True)
class Pair:
    """A clean and a corrupt text. target: an encoder-decoder's answer to both."""

    clean: str
    corrupt: str
    target: str = ""


def change_words(clean: str, before: str, after: str, target: str = "") -> Pair:
    """Return a text, and the same text with a few words changed."""
    return Pair(clean, clean.replace(before, after), target)


PAIRS = {  # by the name of a model that ships, or else by kind
    "writer": (
        change_words(state.DEFAULT_TEXT, "a ball", "a cat"),
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
    """Return the pairs for a model. They work for models that ship; for other models they may not."""
    if trainings.examples(info.name) or info.labels:  # trained here, on a task of its own; or its answers are no words
        return []
    mask = info.mask or "…"
    return [
        Pair(pair.clean.replace("MASK", mask), pair.corrupt.replace("MASK", mask), pair.target)
        for pair in PAIRS.get(info.name, PAIRS[info.kind])
    ]


def write(look: Look) -> str:
    """Place the box of the second text, with the ready pairs beside it and other changed words below, and return its text."""
    info, text = look.model.info, look.trace.text
    begin(look)
    with st.container(key="texts-box", horizontal=True, vertical_alignment="bottom", gap="small", wrap=False):
        other = text_boxes.one_line(state.OTHER_TEXT, "The second text", "Your text with a word changed …", labelled=True)
        if pairs := known(info):
            st.menu_button(
                "Pairs",
                list(range(len(pairs))),
                key=page_state.PAIR.name,
                icon=":material/lightbulb:",
                type="tertiary",
                on_click=take,
                args=(pairs,),
                format_func=lambda i: plain(f"{pairs[i].clean} / {pairs[i].corrupt}"),
            )
    if other == text or other == state.OTHER_TEXT.of("offered").get():
        place_offers(look, other)
    return other


def place_offers(look: Look, other: str) -> None:
    """Place a button for each of a few words that could be changed in the second text. other: that text."""
    offered = offers(look)[:OFFERED]
    if not offered:
        return
    with st.container(key="texts-offers", horizontal=True, vertical_alignment="center", gap="small"):
        for number, offer in enumerate(offered):
            st.button(
                plain(f"{offer.before} → {offer.after}"),
                key=f"texts-offer-{number}",
                type="primary" if offer.text == other else "secondary",
                on_click=take_offer,
                args=(offer.text,),
                help="The second text is the first with this word changed.",
            )


def take_offer(text: str) -> None:
    """Write a changed text into the second box."""
    text_boxes.change(state.OTHER_TEXT, text)
    state.OTHER_TEXT.of("offered").set(text)
    forget()


def begin(look: Look) -> None:
    """Fill in a second text if nobody has typed one: that of the ready pair, or else the text with a word changed, or the text
    itself. While a model loads, another one is in use, which may have no such pair."""
    info, text = look.model.info, look.trace.text
    key, offered = state.OTHER_TEXT, state.OTHER_TEXT.of("offered")
    last = key.of("last").get() if key.of("last").is_set else None
    current_text = key.get() if key.is_set else last if last is not None else key.in_address
    corrupt_by_clean = {pair.clean: pair.corrupt for pair in known(info)}
    others = {pair.corrupt.replace("MASK", info.mask or "…") for pairs in PAIRS.values() for pair in pairs}
    untouched = current_text is None or current_text.replace(text_boxes.BREAK, "\n") == offered.get()
    if text in corrupt_by_clean and (untouched or (current_text in others and current_text not in corrupt_by_clean.values())):
        text_boxes.change(key, corrupt_by_clean[text])
        offered.set(None)
    elif current_text is None or (untouched and offered.of("for").get() != text):
        changed = next((offer.text for offer in offers(look)), text)
        text_boxes.change(key, changed)
        offered.set(changed)
    offered.of("for").set(text)


def take(pairs: list[Pair]) -> None:
    """Write both texts of a pair into their boxes, and reset the choices made for other texts."""
    pair = pairs[page_state.PAIR.get()]
    text_boxes.change(state.TEXT, pair.clean)
    text_boxes.change(state.OTHER_TEXT, pair.corrupt)
    if pair.target or state.TARGET.is_set:
        text_boxes.change(state.TARGET, pair.target)
    state.COVERED.set([])
    for key in (page_state.TEXTS_ANSWER, page_state.TEXTS_AGAINST, page_state.TEXTS_PLACE):
        key.set(None)
    forget()


def forget() -> None:
    """Forget the selected square."""
    page_state.TEXTS_CELL.set("")
