"""A vocabulary as its tokenizer has it: what a stretch of a word is called there, and what it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from models.pieces.values import Piece

Spelt = Callable[[str], tuple[str, bool]]


class Spelling:
    """Pieces of a vocabulary. ids: by what is written; spelt: what a piece stands for, and whether it is a fragment."""

    def __init__(self, ids: Mapping[str, int], spelt: Spelt):
        self.ids, self.spelt = ids, spelt

    def piece(self, written: str, start: int, end: int) -> Piece:
        text, fragment = self.spelt(written)
        return Piece(written, text, start, end, self.ids.get(written), fragment)

    def unknown(self, sign: str, start: int, end: int) -> Piece:
        """The sign for what the vocabulary does not have."""
        return Piece(sign, sign, start, end, self.ids.get(sign))

    def bytes(self, text: str) -> list[str] | None:
        """What a vocabulary with byte fallback writes for a text that it does not have; None where it lacks one of the bytes."""
        written = [f"<0x{byte:02X}>" for byte in text.encode()]
        return written if all(one in self.ids for one in written) else None
