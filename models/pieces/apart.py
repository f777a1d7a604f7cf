"""Splits a text with a tokenizer and returns the steps by which each word became pieces."""

from __future__ import annotations

from models.errors import panics_caught
from models.pieces.values import Pieces
from models.tokens import SURROGATE, Vocabulary

HIDDEN = "This tokenizer is not of the library “tokenizers”: it gives its pieces and does not show how it came to them."
WHOLE = "This tokenizer looks up whole words and never cuts one, so there are no steps to see."
DIFFERS = "This tokenizer does something with this text that is not followed here, so its steps cannot be shown."


def pieces_of(vocabulary: Vocabulary, text: str) -> Pieces:
    """Return the steps by which a text becomes tokens (see `Pieces`), for any tokenizer; a note says what cannot be shown.

    Lone surrogates are read as U+FFFD. The resulting tokens are compared with the tokenizer's own; where they differ, only the
    note is returned.
    """
    text = SURROGATE.sub("\ufffd", text)
    rules = vocabulary.rules
    if rules is None:
        return Pieces(text, "", vocabulary.size, note=HIDDEN)
    with panics_caught():
        sections, words, ids = tuple(rules.sections(text)), tuple(rules.words(text)), rules.ids(text)
    pieces = Pieces(
        text, rules.kind, vocabulary.size, sections, words, rules.normalizer, rules.pre_tokenizer, "" if rules.cuts else WHOLE
    )
    return pieces if list(pieces.ids) == ids else Pieces(text, rules.kind, vocabulary.size, note=DIFFERS)
