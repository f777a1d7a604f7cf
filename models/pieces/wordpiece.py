"""WordPiece: the longest stretch first, as the library `tokenizers` looks for it (Devlin et al. 2019, arXiv:1810.04805)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.pieces.spelling import Spelling, Spelt
from models.pieces.values import Piece, Tries, Try


class LongestFirst:
    """A vocabulary of whole words and of pieces that go on with one ("##ing"). described: as the library writes it in JSON."""

    kind = "WordPiece"

    def __init__(self, described: Mapping[str, Any], spelt: Spelt):
        self.spelling = Spelling(described["vocab"], spelt)
        self.prefix = described["continuing_subword_prefix"]
        self.sign, self.most = described["unk_token"], described["max_input_chars_per_word"]

    def take(self, word: str) -> tuple[Tries, list[int]]:
        """The steps of a word, and which of its characters each letter is."""
        characters = list(range(len(word)))
        unknown = (self.spelling.unknown(self.sign, 0, len(word)),)
        if len(word) > self.most:
            return Tries((), unknown, unknown=True, long=True), characters
        tries: list[Try] = []
        pieces: list[Piece] = []
        start = 0
        while start < len(word):
            found = self.longest(word, start, tries)
            if found is None:
                return Tries(tuple(tries), unknown, unknown=True), characters
            pieces.append(found)
            start = found.end
        return Tries(tuple(tries), tuple(pieces)), characters

    def longest(self, word: str, start: int, tries: list[Try]) -> Piece | None:
        """The longest piece from a place on; all that were looked up are added to `tries`."""
        for end in range(len(word), start, -1):
            piece = self.spelling.piece((self.prefix if start else "") + word[start:end], start, end)
            tries.append(Try(piece, piece.id is not None))
            if piece.id is not None:
                return piece
        return None
