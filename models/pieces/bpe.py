"""Byte-pair encoding, merge by merge, as the library `tokenizers` does it (Sennrich et al. 2016, arXiv:1508.07909)."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

from models.pieces.spelling import PieceText, Spelling
from models.pieces.values import Merge, Merges, Piece


class PairMerges:
    """The merges of a tokenizer. settings: its model as the library writes it in JSON."""

    kind = "BPE"

    def __init__(self, settings: Mapping[str, Any], text_of: PieceText):
        self.spelling = Spelling(settings["vocab"], text_of)
        self.prefix = settings.get("continuing_subword_prefix") or ""
        self.suffix = settings.get("end_of_word_suffix") or ""
        self.sign = settings.get("unk_token")
        self.fuses, self.falls_back = bool(settings.get("fuse_unk")), bool(settings.get("byte_fallback"))
        self.whole_first = bool(settings.get("ignore_merges"))
        pairs = (tuple(pair) if isinstance(pair, list) else tuple(pair.split(" ", 1)) for pair in settings["merges"])
        self.ranks: dict[tuple[str, str], int] = {(left, right): rank for rank, (left, right) in enumerate(pairs)}

    def join(self, left: str, right: str) -> str:
        """Join two pieces; the prefix that marks the continuation of a word stays only at the beginning."""
        return left + right[len(self.prefix) :]

    def take(self, word: str) -> tuple[Merges, list[int]]:
        """Return the steps of a word, and for each letter the number of its character."""
        if self.whole_first and word in self.spelling.ids:
            whole = self.spelling.piece(word, 0, 1)
            return Merges((whole,), (), len(self.ranks), whole=True), [0]
        letters, characters = self.letters(word)
        return Merges(tuple(letters), tuple(self.merges(letters)), len(self.ranks)), characters

    def letters(self, word: str) -> tuple[list[Piece], list[int]]:
        """Return the letters that the merges begin with: characters, or bytes or the unknown token for those not in the
        vocabulary, and the number of the character for each."""
        letters_at: list[tuple[str, int]] = []
        for at, character in enumerate(word):
            piece = (self.prefix if at else "") + character + (self.suffix if at == len(word) - 1 else "")
            if piece in self.spelling.ids:
                letters_at.append((piece, at))
            elif self.falls_back and (byte_pieces := self.spelling.bytes(piece)):
                letters_at += [(byte_piece, at) for byte_piece in byte_pieces]
            elif self.sign and not (self.fuses and letters_at and letters_at[-1][0] == self.sign):
                letters_at.append((self.sign, at))
        make = {self.sign: self.spelling.unknown}
        letters = [make.get(piece, self.spelling.piece)(piece, i, i + 1) for i, (piece, _) in enumerate(letters_at)]
        return letters, [at for _, at in letters_at]

    def merges(self, letters: list[Piece]) -> list[Merge]:
        """Merge the pair of the lowest rank first, among equals the leftmost, until no neighbours are a pair; return the
        merges."""
        pieces_at: dict[int, Piece] = {letter.start: letter for letter in letters}
        before = {letter.end: letter.start for letter in letters}  # where the piece begins that ends there
        ahead: list[tuple[int, int, str]] = []

        def look(left: Piece | None) -> None:
            right = left and pieces_at.get(left.end)
            if left and right and (rank := self.ranks.get((left.written, right.written))) is not None:
                heapq.heappush(ahead, (rank, left.start, self.join(left.written, right.written)))

        for letter in letters:
            look(letter)
        merges = []
        while ahead:
            _, start, expected = heapq.heappop(ahead)
            left = pieces_at.get(start)
            right = left and pieces_at.get(left.end)
            if not (left and right) or (pair := (left.written, right.written)) not in self.ranks:
                continue
            if self.join(*pair) != expected:  # one of the two has changed since
                continue
            result = self.spelling.piece(expected, left.start, right.end)
            merges.append(Merge(left, right, result, self.ranks[pair]))
            del pieces_at[right.start]
            pieces_at[start] = result
            before[result.end] = start
            look(pieces_at.get(before.get(start, -1)))
            look(result)
        return merges


def restrict(steps: Merges, start: int, end: int) -> Merges:
    """Return the merges among some of the letters, where no piece of the result goes beyond them, so that no other merge
    matters."""

    def shift(piece: Piece) -> Piece:
        return piece.moved(-start)

    letters = tuple(shift(letter) for letter in steps.letters[start:end])
    mine = [merge for merge in steps.merges if start <= merge.result.start < end]
    merges = tuple(Merge(shift(merge.left), shift(merge.right), shift(merge.result), merge.rank) for merge in mine)
    return Merges(letters, merges, steps.rules)
