"""Tokens and predictions: what a model reads and predicts."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import nan
from typing import TYPE_CHECKING, Any, Protocol

from models.errors import panics_caught

if TYPE_CHECKING:
    import numpy as np
    from tokenizers import Tokenizer

    from models.pieces.rules import Rules


@dataclass(frozen=True, slots=True)
class Token:
    """One token of a text.

    text is exactly what it stands for, a leading space included; start and end are character offsets into the text that
    was typed (equal for a special token). fragment: the token holds a part of a character only, and its text spells
    the bytes that are not a character by themselves, as in "<0xF0>". segment: 0, or 1 for the second text of a pair, whose
    offsets count in that text. unknown: the token stands for text that the tokenizer cannot spell. after: for a token that names
    a row of cross-attention, the token that was read in that row; the row serves to choose the token that names it (see
    `Attention.rows`).
    """

    id: int
    text: str
    start: int
    end: int
    special: bool = False
    fragment: bool = False
    segment: int = 0
    unknown: bool = False
    after: Token | None = None


class PatchGrid(Protocol):
    """The grid that a patch is cut by: see `models.images.grid.Grid`."""

    def picture(self, pixels: np.ndarray) -> np.ndarray: ...

    def image_of(self, tokens: Sequence[Token]) -> np.ndarray: ...

    def patch(self, row: int, column: int, pixels: np.ndarray, covered: bool = False) -> Patch: ...


@dataclass(frozen=True, slots=True)
class Patch(Token):
    """One patch of an image, a token wherever a token is expected.

    text names it in words, counted from 1: "row 2, column 3". row, column: counted from 0. box: left, top, right and bottom in
    pixels of the image that the model reads, the last two not included (see `Grid.image_of`). pixels: the numbers that the model
    reads, float32 [channels, height, width], read-only. covered: the patch is hidden. id: a digest of the pixels, so that equal
    patches have equal ids; start and end are 0. Other tokens of an image ([CLS], registers) are special tokens.
    """

    row: int = 0
    column: int = 0
    box: tuple[int, int, int, int] = (0, 0, 0, 0)
    covered: bool = False
    pixels: np.ndarray = field(compare=False, repr=False, kw_only=True)
    grid: PatchGrid = field(compare=False, repr=False, kw_only=True)

    @property
    def picture(self) -> np.ndarray:
        """The patch as it can be drawn: uint8 [height, width, 3]."""
        return self.grid.picture(self.pixels)

    def cover(self) -> Patch:
        """Return the patch covered: its pixels are 0, the mean colour that the model was trained with."""
        return self.grid.patch(self.row, self.column, self.pixels * 0, covered=True)


@dataclass(frozen=True, slots=True)
class Turn:
    """A text as a turn of a chat. written: the text with the chat template around it; tokens: those that the model reads."""

    written: str
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction at a position: probability is a share of one, over the whole vocabulary.

    For a classifier, id is the number of a label and text its name. score: the number that the probability was calculated from;
    for a label that stands for a number, that number, and probability is NaN.
    """

    position: int
    id: int
    text: str
    probability: float
    score: float = field(default=nan, compare=False)


def one_each(target: Sequence[Token] | Sequence[Sequence[Token]], count: int) -> list[Sequence[Token]]:
    """Return a target for each of several texts: the same for all, or the list of targets itself."""
    several: Any = target
    return [several] * count if not len(target) or isinstance(target[0], Token) else list(several)


def spell_bytes(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError), "it is for decoding alone"
    return "".join(f"<0x{byte:02X}>" for byte in error.object[error.start : error.end]), error.end


def bytes_of(text: str, fragment: bool) -> bytes:
    """Return a token's text in UTF-8. fragment: it holds parts of a character, written as in `Token.text`."""
    if not fragment:
        return text.encode("utf-8", "replace")
    parts = re.split(_BYTE, text)
    return b"".join(bytes([int(part, 16)]) if i % 2 else part.encode("utf-8", "replace") for i, part in enumerate(parts))


_BYTE = re.compile("<0x([0-9A-Fa-f]{2})>")
SURROGATE = re.compile("[\ud800-\udfff]")
codecs.register_error("headlight_spell", spell_bytes)


@cache
def byte_of() -> dict[str, int]:
    """Return the byte that each character of byte-level BPE stands for (Radford et al. 2019).

    Bytes that print in Latin-1 stand for themselves; the other 68 take the characters from U+0100 on, in order.
    """
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + i): byte for i, byte in enumerate(others)}


class Vocabulary(Protocol):
    """A tokenizer, of our own models or of transformers. size: the number of its tokens; rules: how it cuts a text, None where
    the tokenizer does not show that."""

    size: int

    @property
    def rules(self) -> Rules | None: ...

    def text(self, id: int) -> tuple[str, bool]:
        """Return the text of a token, and whether it is a fragment of a character."""

    def tokens(self, text: str) -> list[Token]:
        """Return the tokens of a text, with those that the tokenizer adds by itself."""


class ByteLevelTokens:
    """A byte-level BPE tokenizer that returns text and offsets of each token."""

    def __init__(self, tokenizer: Tokenizer, start: str, end: str = "", mask: str = ""):
        """start, end, mask: the special tokens; a tokenizer may lack the last two. Only the mask can be typed.

        Errors: ValueError where the tokenizer lacks the first.
        """
        self.tokenizer = tokenizer
        first, self.end, self.mask = (tokenizer.token_to_id(sign) for sign in (start, end, mask))
        if first is None:
            raise ValueError(f"The tokenizer has no token {start} to begin a text with.")
        self.start = first
        self.special = {self.start, self.end, self.mask} - {None}
        self.size = tokenizer.get_vocab_size()
        self._texts: dict[int, tuple[str, bool]] = {}  # its own: a cache of the class would hold every tokenizer for ever
        tokenizer.no_truncation()
        tokenizer.encode_special_tokens = True  # "<|start|>" typed by a person is text

    def text(self, id: int) -> tuple[str, bool]:
        """Return the text of a token, and whether it is a fragment of a character."""
        if id not in self._texts:
            piece = self.tokenizer.id_to_token(id)
            if piece is None:
                raise ValueError(f"There is no token {id} in this vocabulary.")
            self._texts[id] = (piece, False) if id in self.special else self.piece_text(piece)
        return self._texts[id]

    def piece_text(self, piece: str) -> tuple[str, bool]:
        """Return the text of a piece of the vocabulary, and whether it is a fragment of a character."""
        raw = bytes(byte_of()[character] for character in piece)
        try:
            return raw.decode("utf-8"), False
        except UnicodeDecodeError:
            return raw.decode("utf-8", "headlight_spell"), True

    @cached_property
    def rules(self) -> Rules:
        """The rules by which a text becomes these tokens."""
        from models.pieces.rules import Rules

        return Rules(self.tokenizer, self.piece_text)

    def tokens(self, text: str) -> list[Token]:
        """Return the tokens of a text, the start token first."""
        return [self.sign(self.start), *self.body(text)]

    @panics_caught()
    def body(self, text: str) -> list[Token]:
        """Return the tokens of a text without the start token. Lone surrogates are read as U+FFFD, which UTF-8 can hold."""
        encoding = self.tokenizer.encode(SURROGATE.sub("\ufffd", text))
        tokens = []
        for id, (start, end) in zip(encoding.ids, encoding.offsets, strict=True):
            token_text, fragment = self.text(id)
            tokens.append(Token(id, token_text, start, end, special=id in self.special, fragment=fragment))
        return tokens

    def sign(self, id: int, at: int = 0) -> Token:
        """Return a special token that nobody typed, at a character of the text."""
        return Token(id, self.text(id)[0], at, at, special=True)
