"""Converts a word that somebody typed, or that a link names, to one token of a model."""

from __future__ import annotations

from collections.abc import Iterable

from models.language_model import LanguageModel


def token_of(model: LanguageModel, text: str, first: Iterable[int]) -> int | None:
    """Return the token for a word: one of the `first` tokens with this text, else the tokenizer's; None if it needs several."""
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
