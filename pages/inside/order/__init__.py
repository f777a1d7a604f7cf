"""The part "Order": the words of the text in another order, and what the model makes of them with its positions and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from analysis.word_order import BothOrders, word_spans
from pages.inside.order import choose, drawings, kept, sentences
from pages.inside.order.drawings import BOARD, CHIPS
from ui.choices.token import keep
from ui.look import Look
from ui.memory import visitors
from ui.picture.picture import Picture
from ui.show import choice, picture, show
from ui.text import plain
from ui.words import words
from viz import Card, Part, board

HERE = Path(__file__).parent
MOST = 400  # words of a text that can be moved


def draw(look: Look) -> list[Picture]:
    """Draw the words, and below them the predictions, maps and vectors of both orders; return the pictures."""
    count = len(word_spans(look.trace.text))
    if why := refusal(look, count):
        st.info(why, icon=":material/info:")
        return []
    order = choose.order_of(count)
    stored = kept.readings(visitors.me(), look.model, look.trace, look.second, order)
    readings, note = stored.orders, words(HERE, stored.note, model=plain(look.model.info.name)) if stored.note else ""
    chips = drawings.chips(look, order, readings.get(True))
    show(chips.drawn, CHIPS, lambda: choose.keep(choice(CHIPS)["order"]))
    choose.buttons(look, order)
    for sentence in filter(None, (note, *map(plain, sentences.say_changes(look, readings.get(True), order)))):
        st.caption(sentence)
    if not readings:
        return [chips]
    pictures: list[Picture] = []
    with picture("The comparison"):
        cards, pictures = compare(look, order, readings)
        show(board(cards, "As typed and in the other order"), BOARD, lambda: react(look))
    return [chips, *pictures]


def refusal(look: Look, count: int) -> str:
    """Return a sentence on why no word can be moved; "" where words can."""
    names = {"count": f"{count:,}", "most": MOST, "model": plain(look.model.info.name)}
    return words(HERE, "one word" if count < 2 else "cut" if look.trace.cut else "too many" if count > MOST else "", **names)


def compare(look: Look, order: tuple[int, ...], readings: dict[bool, BothOrders]) -> tuple[list[Card], list[Picture]]:
    """Return the cards and pictures of each subject, with positions on the left and without them on the right."""
    cards: list[Card] = []
    pictures: list[Picture] = []
    for subject in drawings.SUBJECTS:
        drawn = {positions: drawings.of(look, order, reading, positions, subject) for positions, reading in readings.items()}
        above = sentences.introduce(look, subject)
        cards.append(Card([Part(subject, None, above)], words(HERE, f"title {subject}", head=look.head_name)))
        for positions, own in drawn.items():
            parts = [drawing.on_board(sentences.say_difference(look, readings[positions], drawing)) for drawing in own]
            nothing = words(HERE, "labels" if look.model.info.labels else "no head")
            cards.append(Card(parts or [Part(subject, None, nothing)], words(HERE, f"positions {positions}"), 5))
            pictures += own
    cards.append(Card([Part("why", None, sentences.explain(look, readings))], words(HERE, "title why")))
    return cards, pictures


def react(look: Look) -> None:
    """Follow the token of the row of a map that was clicked."""
    press: Any = choice(BOARD)
    if isinstance(press["value"], list) and press["part"].startswith("map"):
        keep(drawings.window(look).rows[press["value"][0]])
