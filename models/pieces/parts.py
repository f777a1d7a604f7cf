"""Cuts a tokenizer's word into the words on screen: a word that is a whole text is cut where its pieces begin with a space."""

from __future__ import annotations

from itertools import pairwise

from models.pieces import bpe, unigram
from models.pieces.bpe import PairMerges
from models.pieces.unigram import BestSum
from models.pieces.values import Lattice, Merges, Steps, Word
from models.pieces.wordpiece import LongestFirst

MOST = 60  # letters of a word on screen
Cutter = PairMerges | LongestFirst | BestSum


def words_of(cutter: Cutter, word: str) -> tuple[Word, ...]:
    """Return the steps of a cutter on a word, part by part."""
    steps, characters = cutter.take(word)
    text_of = cutter.spelling.text_of

    def written_part(start: int, end: int) -> str:
        last = characters[end] if end < len(characters) else len(word)
        return word[characters[start] if start else 0 : last]

    def ends_at_character(start: int, end: int) -> bool:
        """Return whether a part that starts between two characters would also end between two."""
        return characters[end] != characters[end - 1] and not text_of(written_part(start, end))[1]

    breaks = [0]
    for piece in steps.pieces if isinstance(steps, Merges | Lattice) else ():  # WordPiece looks at a whole word each time
        wanted = piece.text.startswith(" ") or piece.end - breaks[-1] > MOST
        if wanted and piece.start > breaks[-1] and ends_at_character(breaks[-1], piece.start):
            breaks.append(piece.start)
    parts = [(start, end, _restrict(steps, start, end)) for start, end in pairwise([*breaks, len(characters)])]
    return tuple(
        Word(written_part(start, end), text_of(written_part(start, end))[0], part.pieces, part) for start, end, part in parts
    )


def _restrict(steps: Steps, start: int, end: int) -> Steps:
    if isinstance(steps, Merges):
        return steps if steps.whole else bpe.restrict(steps, start, end)
    return unigram.restrict(steps, start, end) if isinstance(steps, Lattice) and steps.ways else steps
