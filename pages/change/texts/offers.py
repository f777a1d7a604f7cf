"""Second texts to offer: the first text with one word changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from models.numbers.softmax import softmax
from models.trace import Trace
from ui.look import Look
from ui.memory import loaded, trainings

MOST = 12  # texts that are read for an offer
LIKELY = 40  # tokens, among which one is looked for that fits in the place of another
OPPOSITES = (
    "he she, his her, him her, man woman, men women, boy girl, boys girls, king queen, prince princess, father mother, "
    "brother sister, son daughter, uncle aunt, husband wife, old young, big little, large small, good bad, black white, "
    "red green, hot cold, rich poor, happy sad, day night, morning evening, summer winter, sun moon, dog cat, horse cow, "
    "bread cake, house garden, door window, hand foot, town village, sea land, Mary John, Tom Anna"
)
OPPOSITE = {left: right for pair in OPPOSITES.split(", ") for left, right in (pair.split(), pair.split()[::-1])}
OPPOSITE |= {"her": "his"}


@dataclass(frozen=True)
class Offer:
    """A text with a word changed."""

    before: str
    after: str
    text: str


def offers(look: Look) -> list[Offer]:
    """Return the text with one word changed, in several ways: that which moves the prediction most comes first.

    A word gives way to its opposite in a small list; where the text has none of these words, and a decoder reads it, a word gives
    way to the token that the model found likeliest there.
    """
    model, text = look.model, look.trace.text
    if trainings.examples(model.info.name) or look.trace.unembed is None or not model.places(look.trace):
        return []
    moves = [
        (distance, offer)
        for changed in (opposites(text), likely_words(look))
        for offer in list(changed)[-MOST:]
        if (distance := moved(look, offer)) > 0
    ]
    return [offer for _, offer in sorted(moves, key=lambda move: -move[0])]


def opposites(text: str) -> Iterator[Offer]:
    """Yield the text with each word that has an opposite changed."""
    for word in re.finditer(r"[A-Za-z]+", text):
        before = word[0]
        after = OPPOSITE.get(before) or OPPOSITE.get(before.lower(), "").capitalize() * before[0].isupper()
        if after:
            yield Offer(before, after, text[: word.start()] + after + text[word.end() :])


def likely_words(look: Look) -> Iterator[Offer]:
    """Yield the text with each longer word, but for the last two, replaced by the likeliest other token that is a word."""
    model, trace = look.model, look.trace
    if model.info.kind != "decoder" or any(opposites(trace.text)):
        return
    for place, token in enumerate(trace.tokens[:-2]):
        after = trace.tokens[place + 1].text[:1]
        logits = trace.logits_at(place - 1) if place else None
        if logits is None or not re.fullmatch(r" [A-Za-z]{4,}", token.text) or after.isalpha():
            continue
        ids = np.argsort(-logits)[:LIKELY].tolist()
        texts = [model.token_text(id) for id in ids if id != token.id]
        words = [text.strip() for text in texts if re.fullmatch(r" [a-z]{3,}", text)]
        if words:
            before, start = token.text.strip(), token.end - len(token.text.strip())
            yield Offer(before, words[0], trace.text[:start] + words[0] + trace.text[token.end :])


def moved(look: Look, offer: Offer) -> float:
    """Return how far apart the predictions for the two texts are, from 0 to 1; 0 where they cannot be compared."""
    trace = loaded.read(look.model.info.name, offer.text, look.second)
    before, after = chances(look, look.trace), chances(look, trace)
    if before is None or after is None or len(trace.tokens) != len(look.trace.tokens):
        return 0.0
    return float(np.abs(before - after).sum() / 2)


def chances(look: Look, trace: Trace) -> np.ndarray | None:
    """Return the probabilities at the last place where the model predicts; None where it has none."""
    places = look.model.places(trace)
    logits = trace.logits_at(places[-1]) if places else None
    return None if logits is None else softmax(logits)
