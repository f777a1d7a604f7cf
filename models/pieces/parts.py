"""A word of a tokenizer as the words that are shown: one that is a whole text is cut where its pieces begin with a space."""

from __future__ import annotations

from itertools import pairwise

from models.pieces import bpe, unigram
from models.pieces.bpe import PairMerges
from models.pieces.unigram import BestSum
from models.pieces.values import Lattice, Merges, Steps, Word
from models.pieces.wordpiece import LongestFirst

MOST = 60  # letters that a word is shown with
Cutter = PairMerges | LongestFirst | BestSum


def words_of(cutter: Cutter, word: str) -> tuple[Word, ...]:
    """What a cutter does to a word, part by part."""
    steps, characters = cutter.take(word)
    spelt = cutter.spelling.spelt

    def written(start: int, end: int) -> str:
        last = characters[end] if end < len(characters) else len(word)
        return word[characters[start] if start else 0 : last]

    def between(start: int, end: int) -> bool:
        """Whether a part from one letter to another, where both are between characters, would end between characters."""
        return characters[end] != characters[end - 1] and not spelt(written(start, end))[1]

    breaks = [0]
    for one in steps.pieces if isinstance(steps, Merges | Lattice) else ():  # WordPiece looks at a whole word each time
        wanted = one.text.startswith(" ") or one.end - breaks[-1] > MOST
        if wanted and one.start > breaks[-1] and between(breaks[-1], one.start):
            breaks.append(one.start)
    parts = [(start, end, _within(steps, start, end)) for start, end in pairwise([*breaks, len(characters)])]
    return tuple(Word(written(start, end), spelt(written(start, end))[0], part.pieces, part) for start, end, part in parts)


def _within(steps: Steps, start: int, end: int) -> Steps:
    if isinstance(steps, Merges):
        return steps if steps.whole else bpe.within(steps, start, end)
    return unigram.within(steps, start, end) if isinstance(steps, Lattice) and steps.ways else steps
