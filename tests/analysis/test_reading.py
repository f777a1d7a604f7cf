"""The text that replaces tokens for a reader."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from analysis import as_written
from models.tokens import Token


def tokens(text: str, cuts: list[int]) -> list[Token]:
    """A start token, then the pieces of a text, lower-cased and without spaces, as a WordPiece tokenizer gives them."""
    edges = sorted({0, len(text), *(place % (len(text) + 1) for place in cuts)})
    pieces = [(a, b) for a, b in pairwise(edges) if text[a:b].strip()]
    inner_tokens = [
        Token(i, text[a:b].strip().lower(), a + len(text[a:b]) - len(text[a:b].lstrip()), b) for i, (a, b) in enumerate(pieces)
    ]
    return [Token(0, "[CLS]", 0, 0, special=True), *inner_tokens, Token(0, "[SEP]", len(text), len(text), special=True)]


@given(st.text("aB c.", min_size=1), st.lists(st.integers(0, 50)))
def test_the_words_are_as_they_were_typed(text, cuts):
    text_tokens = tokens(text, cuts)
    readable = as_written(text_tokens, text)
    start = next((token.start for token in text_tokens if token.start < token.end), 0)
    end = max((token.end for token in text_tokens if token.start < token.end), default=0)
    assert "".join(token.text for token in readable if not token.special) == text[start:end]


def test_what_was_cut_off_is_not_read():
    text = "one two three four"
    text_tokens = [Token(0, "[CLS]", 0, 0, special=True), Token(1, "three", 8, 13), Token(2, "four", 14, 18)]
    assert [token.text for token in as_written(text_tokens, text)] == ["[CLS]", "three", " four"]


def test_an_unknown_token_is_what_was_typed_and_a_mask_is_a_mask():
    text = "a ☃ [MASK]"
    text_tokens = [Token(1, "a", 0, 1), Token(2, "[UNK]", 2, 3, special=True), Token(3, "[MASK]", 4, 10, special=True)]
    assert [(token.text, token.special) for token in as_written(text_tokens, text)] == [
        ("a", False),
        (" ☃", False),
        (" [MASK]", True),
    ]
