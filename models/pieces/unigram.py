"""A unigram language model: the pieces with the highest sum of scores, as the library `tokenizers` finds them
(Kudo 2018, arXiv:1804.10959, without its sampling; the search is Viterbi's)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from models.pieces.spelling import PieceText, Spelling
from models.pieces.values import Candidate, Lattice, Piece, Way

PENALTY = 10.0  # below the lowest score of the vocabulary: the library's score for a letter that is not in it
WAYS = 4  # the number of best ways to keep


class BestSum:
    """A vocabulary of pieces with their scores. settings: the tokenizer's model as the library writes it in JSON."""

    kind = "Unigram"

    def __init__(self, settings: Mapping[str, Any], text_of: PieceText):
        vocabulary = settings["vocab"]
        self.spelling = Spelling({written: id for id, (written, _) in enumerate(vocabulary)}, text_of)
        self.scores = [score for _, score in vocabulary]
        self.longest = max((len(written) for written, _ in vocabulary), default=0)
        self.sign_id = settings["unk_id"]
        self.sign = None if self.sign_id is None else vocabulary[self.sign_id][0]
        self.penalised = min(self.scores, default=0.0) - PENALTY
        self.falls_back = bool(settings.get("byte_fallback"))

    def take(self, word: str) -> tuple[Lattice, list[int]]:
        """Return the steps of a word, and for each letter the number of its character."""
        candidates = list(self.candidates(word))
        ways = best_ways(candidates, len(word))
        pieces = tuple(self.written_pieces(word, ways[0].pieces)) if ways else ()
        return Lattice(tuple(candidates), ways, pieces), list(range(len(word)))

    def candidates(self, word: str) -> Iterator[Candidate]:
        """Yield the vocabulary's pieces at each place of a word; a single letter that is not in the vocabulary is yielded as
        unknown.
        """
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

    def written_pieces(self, word: str, pieces: tuple[Piece, ...]) -> Iterator[Piece]:
        """Yield the pieces of a way as tokens: neighbouring unknown letters are one token, or the tokens of their bytes."""
        for unknown, group in groupby(pieces, lambda piece: piece.id == self.sign_id):
            unknown_pieces = list(group)
            if not unknown:
                yield from unknown_pieces
                continue
            start, end = unknown_pieces[0].start, unknown_pieces[-1].end
            byte_pieces = self.spelling.bytes(word[start:end]) if self.falls_back else None
            if byte_pieces is None:
                yield self.spelling.unknown(str(self.sign), start, end)
            else:
                yield from (self.spelling.piece(piece, start, end) for piece in byte_pieces)


def best_ways(candidates: list[Candidate], length: int, most: int = WAYS) -> tuple[Way, ...]:
    """Return the ways to cut a word that have the highest sums of scores; among equals, the library's choice comes first."""
    ending: dict[int, list[tuple[float, tuple[Piece, ...]]]] = {0: [(0.0, ())]}
    for candidate in candidates:  # in the order of their starts, so that all ways to a start are known there
        ways = ending.setdefault(candidate.piece.end, [])
        ways += [(candidate.score + score, (*pieces, candidate.piece)) for score, pieces in ending[candidate.piece.start]]
        ways.sort(key=lambda way: -way[0])
        del ways[most:]
    return tuple(Way(pieces, score) for score, pieces in ending.get(length, ()))


def restrict(steps: Lattice, start: int, end: int) -> Lattice:
    """Return the candidates among some of the letters, where pieces of the best way begin and end: its part between them is the
    best way for these letters too."""
    base = max((candidate.total for candidate in steps.candidates if candidate.piece.end == start), default=0.0)
    candidates = tuple(
        Candidate(candidate.piece.moved(-start), candidate.score, candidate.total - base, candidate.unknown)
        for candidate in steps.candidates
        if start <= candidate.piece.start and candidate.piece.end <= end
    )

    def part(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
        return tuple(piece.moved(-start) for piece in pieces if start <= piece.start < end)

    best_part = part(steps.ways[0].pieces)
    ways = sorted(
        best_ways(list(candidates), end - start), key=lambda way: way.pieces != best_part
    )  # among equals, the library's choice first
    return Lattice(candidates, tuple(ways), part(steps.pieces))
