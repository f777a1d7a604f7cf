"""One word in several texts: its occurrences, and its hidden states there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.tokens import Token


@dataclass(frozen=True)
class Occurrence:
    """An occurrence of a word: the number of its text, and the positions of its tokens."""

    text: int
    positions: tuple[int, ...]


def occurrences(word: str, texts: Sequence[str], tokens: Sequence[Sequence[Token]]) -> list[Occurrence]:
    """Return every occurrence of a word, whole and in any case: "bank" occurs in "Bank.", but not in "bankrupt".

    texts: as typed; tokens: a model's tokens of each.
    """
    word = word.strip()
    if not word:
        return []
    pattern = re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.IGNORECASE)
    places = []
    for number, (text, text_tokens) in enumerate(zip(texts, tokens, strict=True)):
        for match in pattern.finditer(text):
            positions = [
                i
                for i, token in enumerate(text_tokens)
                if token.start < token.end and _overlap(token, text, match.start(), match.end())
            ]
            if positions:
                places.append(Occurrence(number, tuple(positions)))
    return places


def word_states(hidden: Sequence[np.ndarray], places: Sequence[Occurrence]) -> np.ndarray:
    """Return the hidden state of a word at each occurrence, the mean over its tokens: float32 [layers + 1, occurrence, d_model].

    hidden: [layers + 1, position, d_model] of each text.
    """
    return np.stack([hidden[place.text][:, list(place.positions)].mean(1) for place in places], axis=1).astype(np.float32)


def _overlap(token: Token, text: str, start: int, end: int) -> bool:
    """Return whether a token holds a part of the word itself, and not only the space before it."""
    inside = text[max(token.start, start) : min(token.end, end)]
    return bool(inside.strip())
