"""What is known of how a text became tokens. All of it is frozen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a word.

    written: as the vocabulary writes it, "Ġdog"; text: what it stands for, " dog" (see `Token`); start, end: which of the word's
    letters; id: its token, None where the vocabulary has none; fragment: it holds a part of a character only.
    """

    written: str
    text: str
    start: int
    end: int
    id: int | None = None
    fragment: bool = False

    def moved(self, by: int) -> Piece:
        """The same in a word that has so many letters more before it."""
        return Piece(self.written, self.text, self.start + by, self.end + by, self.id, self.fragment)


@dataclass(frozen=True, slots=True)
class Merge:
    """Two neighbours that were joined. rank: which of the tokenizer's rules said so, the one learned first is 0."""

    left: Piece
    right: Piece
    result: Piece
    rank: int


@dataclass(frozen=True)
class Merges:
    """How byte-pair encoding (Sennrich et al. 2016) came to its pieces. letters: what it begins with, characters or bytes;
    merges: in the order in which they were made; rules: how many merges the tokenizer knows; whole: the word was taken from the
    vocabulary as it is, and no rule was asked."""

    letters: tuple[Piece, ...]
    merges: tuple[Merge, ...]
    rules: int
    whole: bool = False

    def after(self, count: int) -> tuple[Piece, ...]:
        """The pieces that stand there after so many merges."""
        standing = {one.start: one for one in self.letters}
        for merge in self.merges[:count]:
            del standing[merge.right.start]
            standing[merge.result.start] = merge.result
        return tuple(standing.values())

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        return self.after(len(self.merges))


@dataclass(frozen=True, slots=True)
class Try:
    """A stretch that was looked up in the vocabulary, and whether it was found."""

    piece: Piece
    found: bool


@dataclass(frozen=True)
class Tries:
    """How WordPiece came to its pieces: from where the last one ended, the longest stretch that the vocabulary has
    (https://huggingface.co/docs/transformers/tokenizer_summary). long: the word has more letters than it looks at."""

    tries: tuple[Try, ...]
    pieces: tuple[Piece, ...]
    unknown: bool = False
    long: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A piece that could stand at a place of a word. score: its own, a log-probability; total: of the best way through the word's
    beginning that ends with it; unknown: it is not in the vocabulary, and its score is the penalty for that."""

    piece: Piece
    score: float
    total: float
    unknown: bool = False


@dataclass(frozen=True, slots=True)
class Way:
    """One way to cut a word, and the sum of its pieces' scores."""

    pieces: tuple[Piece, ...]
    score: float


@dataclass(frozen=True)
class Lattice:
    """How a unigram language model (Kudo 2018) came to its pieces: all candidates in the order of their starts, and the best ways
    through the word, the one with the highest score first. pieces: that one's, unknown letters joined or written as bytes."""

    candidates: tuple[Candidate, ...]
    ways: tuple[Way, ...]
    pieces: tuple[Piece, ...]


Steps = Merges | Tries | Lattice


@dataclass(frozen=True)
class Word:
    """What a tokenizer cuts into pieces by itself. A pre-tokenizer that leaves a text whole gives one word, of which this is a
    part: from a piece that begins with a space to the next one, or 60 letters at the most. No step goes beyond such a part.

    written: as the tokenizer's model gets it; text: what that stands for; added: a token that was cut out of the text before
    anything else was done with it; steps: None where there are none to see.
    """

    written: str
    text: str
    pieces: tuple[Piece, ...]
    steps: Steps | None = None
    added: bool = False


@dataclass(frozen=True)
class Pieces:
    """How a text became tokens, those that a tokenizer adds by itself left out.

    kind: "BPE" | "WordPiece" | "Unigram" | "WordLevel", "" where it cannot be seen; sections: the text after the normalizer, in
    parts between added tokens; words: in order, () where nothing can be seen; normalizer, pre_tokenizer: as the library writes
    them, "" for none; size: tokens in the vocabulary; note: a sentence on what cannot be seen, and why.
    """

    text: str
    kind: str
    size: int
    sections: tuple[str, ...] = ()
    words: tuple[Word, ...] = ()
    normalizer: str = ""
    pre_tokenizer: str = ""
    note: str = ""

    @cached_property
    def ids(self) -> tuple[int, ...]:
        return tuple(piece.id for word in self.words for piece in word.pieces if piece.id is not None)
