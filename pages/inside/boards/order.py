"""The boards of the part "Order": the words in their order, and the predictions, maps and vectors of both orders."""

from __future__ import annotations

from analysis.word_order import BothOrders, word_spans
from pages.inside.order import drawings, sentences
from pages.inside.order.drawings import BOARD, CHIPS
from pages.inside.settings import Chips, Orders
from ui.escaping import plain
from ui.look import Look
from ui.picture.board import Draft, Note
from ui.picture.picture import Picture
from viz import Card, Part

MOST = 400  # words of a text that can be moved


def why_none(look: Look) -> str:
    """Return the heading of the words on why no word can be moved; "" if words can be moved."""
    count = len(word_spans(look.trace.text))
    return "one word" if count < 2 else "cut" if look.trace.cut else "too many" if count > MOST else ""


def add_refusal(draft: Draft) -> None:
    """Say why no word can be moved."""
    look = draft.look
    names = {"count": f"{len(word_spans(look.trace.text)):,}", "most": MOST, "model": plain(look.model.info.name)}
    draft.contents["inside-order-refused"] = Note(draft.words(why_none(look), **names), "info", ":material/info:")


def add_chips(draft: Draft, reading: Chips) -> None:
    """Add the words in their order."""
    draft.add(drawings.chips(draft.look, reading.order, reading.both), CHIPS)


def add(draft: Draft, reading: Orders) -> None:
    """Add sentences on the order of the words, and the comparison with the text as typed."""
    note = draft.words(reading.note, model=plain(draft.look.model.info.name)) if reading.note else ""
    changes = sentences.say_changes(draft, reading.orders.get(True), reading.order, reading.shuffled)
    for number, sentence in enumerate(filter(None, (note, *map(plain, changes)))):
        draft.contents[f"inside-order-{number}"] = Note(sentence)
    if reading.orders:
        with draft.attempt("The comparison", BOARD):
            cards, pictures = compare(draft, reading.order, reading.orders)
            draft.add_cards(BOARD, cards, "As typed and in the other order")
            draft.pictures += pictures


def compare(draft: Draft, order: tuple[int, ...], readings: dict[bool, BothOrders]) -> tuple[list[Card], list[Picture]]:
    """Return the cards and pictures of each subject, with positions on the left and without them on the right."""
    look = draft.look
    cards: list[Card] = []
    pictures: list[Picture] = []
    is_short = look.beginner and bool(drawings.spots(look, next(iter(readings.values()))))  # there is a guess to compare
    for subject in drawings.SUBJECTS[:1] if is_short else drawings.SUBJECTS:
        drawn = {positions: drawings.of(look, order, reading, positions, subject) for positions, reading in readings.items()}
        above = sentences.introduce(draft, subject)
        cards.append(Card([Part(subject, None, above)], draft.words(f"title {subject}", head=look.head_name)))
        for positions, own in drawn.items():
            parts = [drawing.on_board(sentences.say_difference(draft, readings[positions], drawing)) for drawing in own]
            nothing = draft.words("labels" if look.model.info.labels else "no head")
            cards.append(Card(parts or [Part(subject, None, nothing)], draft.words(f"positions {positions}"), 5))
            pictures += own
    if not is_short:
        cards.append(Card([Part("why", None, sentences.explain(draft, readings))], draft.words("title why")))
    return cards, pictures
