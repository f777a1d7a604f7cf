"""A word that somebody typed, or that a link names, as one token of a model."""

from __future__ import annotations

from collections.abc import Iterable

from models.language_model import LanguageModel


def token_of(model: LanguageModel, text: str, first: Iterable[int]) -> int | None:
    """The token that a word is: of the first ones that which reads so, else what the tokenizer makes of it; None for several."""
    if not (word := text.strip()):
        return None
    for id in first:
        if model.token_text(id).strip() == word:
            return id
    for spelt in (f" {word}", word):
        tokens = [token for token in model.tokenize(spelt) if not token.special]
        if len(tokens) == 1:
            return tokens[0].id
    return None
