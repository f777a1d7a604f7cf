"""Byte-pair encoding, merge by merge, as the library `tokenizers` does it (Sennrich et al. 2016, arXiv:1508.07909)."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

from models.pieces.spelling import Spelling, Spelt
from models.pieces.values import Merge, Merges, Piece


class PairMerges:
    """A tokenizer's merges. described: its model as the library writes it in JSON."""

    kind = "BPE"

    def __init__(self, described: Mapping[str, Any], spelt: Spelt):
        self.spelling = Spelling(described["vocab"], spelt)
        self.prefix = described.get("continuing_subword_prefix") or ""
        self.suffix = described.get("end_of_word_suffix") or ""
        self.sign = described.get("unk_token")
        self.fuses, self.falls_back = bool(described.get("fuse_unk")), bool(described.get("byte_fallback"))
        self.whole_first = bool(described.get("ignore_merges"))
        pairs = (tuple(one) if isinstance(one, list) else tuple(one.split(" ", 1)) for one in described["merges"])
        self.ranks: dict[tuple[str, str], int] = {(left, right): rank for rank, (left, right) in enumerate(pairs)}

    def joined(self, left: str, right: str) -> str:
        """What two pieces make; the prefix of one that goes on with a word stays at the beginning alone."""
        return left + right[len(self.prefix) :]

    def take(self, word: str) -> tuple[Merges, list[int]]:
        """The steps of a word, and which of its characters each letter is, or is a byte of."""
        if self.whole_first and word in self.spelling.ids:
            whole = self.spelling.piece(word, 0, 1)
            return Merges((whole,), (), len(self.ranks), whole=True), [0]
        letters, characters = self.letters(word)
        return Merges(tuple(letters), tuple(self.merges(letters)), len(self.ranks)), characters

    def letters(self, word: str) -> tuple[list[Piece], list[int]]:
        """What the merges begin with: characters, the bytes of those that the vocabulary does not have, or the sign for one."""
        found: list[tuple[str, int]] = []
        for at, character in enumerate(word):
            written = (self.prefix if at else "") + character + (self.suffix if at == len(word) - 1 else "")
            if written in self.spelling.ids:
                found.append((written, at))
            elif self.falls_back and (spelt := self.spelling.bytes(written)):
                found += [(one, at) for one in spelt]
            elif self.sign and not (self.fuses and found and found[-1][0] == self.sign):
                found.append((self.sign, at))
        make = {self.sign: self.spelling.unknown}
        letters = [make.get(written, self.spelling.piece)(written, i, i + 1) for i, (written, _) in enumerate(found)]
        return letters, [at for _, at in found]

    def merges(self, letters: list[Piece]) -> list[Merge]:
        """The pair of the lowest rank first, and of equals the one furthest to the left, until no neighbours are a pair."""
        standing: dict[int, Piece] = {one.start: one for one in letters}
        before = {one.end: one.start for one in letters}  # where the piece begins that ends there
        ahead: list[tuple[int, int, str]] = []

        def look(left: Piece | None) -> None:
            right = left and standing.get(left.end)
            if left and right and (rank := self.ranks.get((left.written, right.written))) is not None:
                heapq.heappush(ahead, (rank, left.start, self.joined(left.written, right.written)))

        for one in letters:
            look(one)
        made = []
        while ahead:
            _, start, expected = heapq.heappop(ahead)
            left = standing.get(start)
            right = left and standing.get(left.end)
            if not (left and right) or (pair := (left.written, right.written)) not in self.ranks:
                continue
            if self.joined(*pair) != expected:  # one of the two has become another since
                continue
            result = self.spelling.piece(expected, left.start, right.end)
            made.append(Merge(left, right, result, self.ranks[pair]))
            del standing[right.start]
            standing[start] = result
            before[result.end] = start
            look(standing.get(before.get(start, -1)))
            look(result)
        return made


def within(steps: Merges, start: int, end: int) -> Merges:
    """The merges among some of the letters, where no piece of the result goes beyond them: no other merge has touched these."""

    def moved(one: Piece) -> Piece:
        return one.moved(-start)

    letters = tuple(moved(one) for one in steps.letters[start:end])
    mine = [one for one in steps.merges if start <= one.result.start < end]
    merges = tuple(Merge(moved(one.left), moved(one.right), moved(one.result), one.rank) for one in mine)
    return Merges(letters, merges, steps.rules)
