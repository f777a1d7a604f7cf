"""Tokenizes only the end of a text that is far longer than what a model reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from models.tokens import Token

CHARACTERS = 16  # of text for each token that fits, at first: three to four times the usual number
SPARE = 64  # tokens more than fit, so that those near the cut, which may be others than in the whole text, are not among the last


def beginning(tokens_of: Callable[[str], list[Token]], text: str, room: int | None) -> int:
    """Return the character of a long text from which on it has more tokens than fit; 0 for a short text.

    The last `room` tokens are those of the whole text wherever a tokenizer cuts texts at spaces first, as nearly all do. A text
    of any length takes about the time of one that fits.
    """
    characters = CHARACTERS * ((room or 0) + SPARE)
    while room is not None and characters < len(text):
        start = len(text) - characters
        space = text.find(" ", start, start + characters // 2)
        start = start if space < 0 else space
        if len(tokens_of(text[start:])) >= room + SPARE:
            return start
        characters *= 4
    return 0


def moved(tokens: list[Token], *starts: int) -> list[Token]:
    """Shift the offsets of tokens, which were read from these characters of their texts on, to the whole texts."""
    if not any(starts):
        return tokens
    return [
        token
        if token.special and token.start == token.end == 0
        else replace(token, start=token.start + starts[token.segment], end=token.end + starts[token.segment])
        for token in tokens
    ]
