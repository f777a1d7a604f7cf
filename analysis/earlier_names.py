"""Heads that look back at names: their attention to a name, beyond that to another word in the same place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.language_model import LanguageModel
from models.numbers.ragged import stacked
from models.tokens import Token
from models.trace import Trace

TEXTS = (
    "In the morning {} went down to the river and washed the old blanket.",
    "Nobody in the house had seen {} since the day of the great storm.",
    "The letter that {} wrote was very long and full of small mistakes.",
    "At the end of the road {} found a little dog and took it home.",
    "When the rain stopped, {} ran outside and played in the wet grass.",
    "The old man asked {} to bring him a chair and a cup of tea.",
    "Every day {} walked to the village and sold eggs at the market.",
    "They gave the bread to {} and then they all sat down to eat.",
)
# Both words of a pair have the same length, so that a model of letters has as many tokens of each.
WORDS = (
    ("Mary", "boys"),
    ("Tom", "men"),
    ("Peter", "women"),
    ("Alice", "girls"),
    ("Robert", "people"),
    ("William", "sailors"),
    ("Michael", "farmers"),
    ("Elizabeth", "strangers"),
)


@dataclass(frozen=True)
class NameSentence:
    """A sentence with a name in it, and the same one with a common noun in its place; start: of both, in characters."""

    name: str
    noun: str
    text: str

    @property
    def start(self) -> int:
        return self.text.index("{}")

    def read(self, model: LanguageModel, kind: str, word: str) -> Trace:
        text = self.text.format(word)
        return model.trace(text, text if kind == "decoder" else "", remember=False)


def name_sentences() -> list[NameSentence]:
    """Return the sentences with names."""
    return [NameSentence(*words, text) for words, text in zip(WORDS, TEXTS, strict=True)]


def after_and_at(tokens: Sequence[Token], start: int, end: int) -> np.ndarray:
    """Mark the looks back at a word: bool [query, key], from each token after characters start to end to each token in them."""
    at = np.array([token.start < min(end, token.end) and token.end > start for token in tokens], dtype=bool)
    after = np.array([token.start >= end and token.start < token.end for token in tokens], dtype=bool)
    return after[:, None] & at


def looks_at_names(model: LanguageModel, sentence: NameSentence, kind: str) -> np.ndarray:
    """Return how much more attention each head gives to a name, from the tokens after it, than to a common noun in its place:
    float64 [layers, heads], −1 to 1.

    Both sentences have the same places and subjects, so a head that looks at the previous token, at the first one or at all alike
    has about 0. NaN if the word does not fit in the context.
    """
    means = []
    for word in (sentence.name, sentence.noun):
        attention = sentence.read(model, kind, word).attention[kind]
        is_look = after_and_at(attention.queries, sentence.start, sentence.start + len(word))
        weights = stacked([attention[layer] for layer in range(attention.layers)]).astype(np.float64)
        rows = is_look.any(-1)
        shares = (weights * is_look).sum(-1)[..., rows]  # [layers, heads, query]
        means.append(shares.mean(-1) if rows.any() else np.full(weights.shape[:2], np.nan))
    return means[0] - means[1]
