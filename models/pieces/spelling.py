"""The vocabulary of a tokenizer: the pieces in it, and the text that each stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from models.pieces.values import Piece

PieceText = Callable[[str], tuple[str, bool]]


class Spelling:
    """Pieces of a vocabulary. ids: by their written form; text_of: returns a piece's text, and whether it is a fragment."""

    def __init__(self, ids: Mapping[str, int], text_of: PieceText):
        self.ids, self.text_of = ids, text_of

    def piece(self, written: str, start: int, end: int) -> Piece:
        text, fragment = self.text_of(written)
        return Piece(written, text, start, end, self.ids.get(written), fragment)

    def unknown(self, sign: str, start: int, end: int) -> Piece:
        """Return the unknown token."""
        return Piece(sign, sign, start, end, self.ids.get(sign))

    def bytes(self, text: str) -> list[str] | None:
        """Return the pieces for the bytes of a text, in a vocabulary with byte fallback; None where it lacks one of them."""
        byte_pieces = [f"<0x{byte:02X}>" for byte in text.encode()]
        return byte_pieces if all(piece in self.ids for piece in byte_pieces) else None
