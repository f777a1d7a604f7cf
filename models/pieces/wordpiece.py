"""WordPiece: the longest stretch first, as the library `tokenizers` looks for it (Devlin et al. 2019, arXiv:1810.04805)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.pieces.spelling import PieceText, Spelling
from models.pieces.values import Piece, Tries, Try


class LongestFirst:
    """A vocabulary of whole words and of pieces that continue one ("##ing"). settings: as the library writes it in JSON."""

    kind = "WordPiece"

    def __init__(self, settings: Mapping[str, Any], text_of: PieceText):
        self.spelling = Spelling(settings["vocab"], text_of)
        self.prefix = settings["continuing_subword_prefix"]
        self.sign, self.most = settings["unk_token"], settings["max_input_chars_per_word"]

    def take(self, word: str) -> tuple[Tries, list[int]]:
        """Return the steps of a word, and for each letter the number of its character."""
        characters = list(range(len(word)))
        unknown = (self.spelling.unknown(self.sign, 0, len(word)),)
        if len(word) > self.most:
            return Tries((), unknown, unknown=True, long=True), characters
        tries: list[Try] = []
        pieces: list[Piece] = []
        start = 0
        while start < len(word):
            piece = self.longest(word, start, tries)
            if piece is None:
                return Tries(tuple(tries), unknown, unknown=True), characters
            pieces.append(piece)
            start = piece.end
        return Tries(tuple(tries), tuple(pieces)), characters

    def longest(self, word: str, start: int, tries: list[Try]) -> Piece | None:
        """Return the longest piece from a place on; every piece that is looked up is added to `tries`."""
        for end in range(len(word), start, -1):
            piece = self.spelling.piece((self.prefix if start else "") + word[start:end], start, end)
            tries.append(Try(piece, piece.id is not None))
            if piece.id is not None:
                return piece
        return None
