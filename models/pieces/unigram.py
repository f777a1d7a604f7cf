"""A unigram language model: the pieces whose scores add up to the most, as the library `tokenizers` finds them
(Kudo 2018, arXiv:1804.10959, without its sampling; the search is Viterbi's)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from models.pieces.spelling import Spelling, Spelt
from models.pieces.values import Candidate, Lattice, Piece, Way

PENALTY = 10.0  # that the library takes from the lowest score of the vocabulary for a letter that is not in it
WAYS = 4  # of the best, how many are kept


class BestSum:
    """Pieces with their scores. described: the tokenizer's model as the library writes it in JSON."""

    kind = "Unigram"

    def __init__(self, described: Mapping[str, Any], spelt: Spelt):
        vocabulary = described["vocab"]
        self.spelling = Spelling({written: id for id, (written, _) in enumerate(vocabulary)}, spelt)
        self.scores = [score for _, score in vocabulary]
        self.longest = max((len(written) for written, _ in vocabulary), default=0)
        self.sign_id = described["unk_id"]
        self.sign = None if self.sign_id is None else vocabulary[self.sign_id][0]
        self.penalised = min(self.scores, default=0.0) - PENALTY
        self.falls_back = bool(described.get("byte_fallback"))

    def take(self, word: str) -> tuple[Lattice, list[int]]:
        """The steps of a word, and which of its characters each letter is."""
        candidates = list(self.candidates(word))
        ways = best_ways(candidates, len(word))
        pieces = tuple(self.as_written(word, ways[0].pieces)) if ways else ()
        return Lattice(tuple(candidates), ways, pieces), list(range(len(word)))

    def candidates(self, word: str) -> Iterator[Candidate]:
        """What of the vocabulary stands at each place of a word; where not even a single letter does, that as unknown."""
        totals: dict[int, float] = {0: 0.0}
        for start in range(len(word)):
            known = False
            for end in range(start + 1, min(len(word), start + self.longest) + 1):
                written = word[start:end]
                if (id := self.spelling.ids.get(written)) is None:
                    continue
                known |= end == start + 1
                total = self.scores[id] + totals[start]
                totals[end] = max(totals.get(end, total), total)
                yield Candidate(self.spelling.piece(written, start, end), self.scores[id], total)
            if not known:
                total = self.penalised + totals[start]
                totals[start + 1] = max(totals.get(start + 1, total), total)
                letter = Piece(word[start], word[start], start, start + 1, self.sign_id)
                yield Candidate(letter, self.penalised, total, unknown=True)

    def as_written(self, word: str, pieces: tuple[Piece, ...]) -> Iterator[Piece]:
        """The pieces of a way as tokens: unknown letters beside each other are one token, or the tokens of their bytes."""
        for unknown, group in groupby(pieces, lambda one: one.id == self.sign_id):
            these = list(group)
            if not unknown:
                yield from these
                continue
            start, end = these[0].start, these[-1].end
            spelt = self.spelling.bytes(word[start:end]) if self.falls_back else None
            if spelt is None:
                yield self.spelling.unknown(str(self.sign), start, end)
            else:
                yield from (self.spelling.piece(one, start, end) for one in spelt)


def best_ways(candidates: list[Candidate], length: int, most: int = WAYS) -> tuple[Way, ...]:
    """The ways through a word with the highest sums; of equal ones the one that the library finds comes first."""
    ending: dict[int, list[tuple[float, tuple[Piece, ...]]]] = {0: [(0.0, ())]}
    for one in candidates:  # in the order of their starts, so that all ways to a start are known there
        here = ending.setdefault(one.piece.end, [])
        here += [(one.score + score, (*pieces, one.piece)) for score, pieces in ending[one.piece.start]]
        here.sort(key=lambda way: -way[0])
        del here[most:]
    return tuple(Way(pieces, score) for score, pieces in ending.get(length, ()))


def within(steps: Lattice, start: int, end: int) -> Lattice:
    """The candidates among some of the letters, where the best way has a piece that begins there and one that ends there: its
    part between them is the best of these letters too."""
    base = max((one.total for one in steps.candidates if one.piece.end == start), default=0.0)
    candidates = tuple(
        Candidate(one.piece.moved(-start), one.score, one.total - base, one.unknown)
        for one in steps.candidates
        if start <= one.piece.start and one.piece.end <= end
    )

    def part(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        return tuple(one.moved(-start) for one in pieces if start <= one.start < end)

    mine = part(steps.ways[0].pieces)
    ways = sorted(
        best_ways(list(candidates), end - start), key=lambda one: one.pieces != mine
    )  # of equals, the one that was taken
    return Lattice(candidates, tuple(ways), part(steps.pieces))
