"""The steps by which a text becomes tokens, as frozen values."""

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
        """Return the same piece in a word with this many more letters before it."""
        return Piece(self.written, self.text, self.start + by, self.end + by, self.id, self.fragment)


@dataclass(frozen=True, slots=True)
class Merge:
    """A merge of two neighbours. rank: the number of the tokenizer's rule; the one learned first is 0."""

    left: Piece
    right: Piece
    result: Piece
    rank: int


@dataclass(frozen=True)
class Merges:
    """The steps of byte-pair encoding (Sennrich et al. 2016). letters: the characters or bytes at the start; merges: in the order
    in which they were made; rules: how many merges the tokenizer knows; whole: the word was in the vocabulary as it is, so no
    rule was used."""

    letters: tuple[Piece, ...]
    merges: tuple[Merge, ...]
    rules: int
    whole: bool = False

    def after(self, count: int) -> tuple[Piece, ...]:
        """Return the pieces after this many merges."""
        pieces_at = {letter.start: letter for letter in self.letters}
        for merge in self.merges[:count]:
            del pieces_at[merge.right.start]
            pieces_at[merge.result.start] = merge.result
        return tuple(pieces_at.values())

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        return self.after(len(self.merges))


@dataclass(frozen=True, slots=True)
class Try:
    """A stretch that was looked up in the vocabulary, and whether it is in it."""

    piece: Piece
    in_vocabulary: bool


@dataclass(frozen=True)
class Tries:
    """The steps of WordPiece: after the end of the last piece, it takes the longest stretch that is in the vocabulary
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
    """The steps of a unigram language model (Kudo 2018): all candidates in the order of their starts, and the best ways through
    the word, the one with the highest score first. pieces: those of that way, unknown letters joined or written as bytes."""

    candidates: tuple[Candidate, ...]
    ways: tuple[Way, ...]
    pieces: tuple[Piece, ...]


Steps = Merges | Tries | Lattice


@dataclass(frozen=True)
class Word:
    """A word, which the tokenizer cuts into pieces independently. Where a pre-tokenizer leaves a text whole, it is a part of
    that: from a piece that begins with a space to the next one, or at most 60 letters. No step goes beyond such a part.

    written: as the tokenizer's model gets it; text: its plain text; added: an added token, which was cut out of the text before
    anything else; steps: None where the tokenizer does not show them.
    """

    written: str
    text: str
    pieces: tuple[Piece, ...]
    steps: Steps | None = None
    added: bool = False


@dataclass(frozen=True)
class Pieces:
    """The steps by which a text became tokens, without those that a tokenizer adds by itself.

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
