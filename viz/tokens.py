"""Tokens as text on screen, with everything visible: spaces, line breaks, control and invisible characters."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

_NEWLINE, _TAB, _SPACE, _CARRIER = "↵", "⇥", "·", "◌"

# Draws nothing although its category says letter, mark or symbol: Unicode's Default_Ignorable_Code_Point, and Braille blank.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u2800\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
# Format characters that do draw a sign.
_SIGNS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd")
# Joiners and emoji styles shape their neighbours: kept inside a word that one reads.
_KEPT_INSIDE = frozenset("\u200c\u200d\ufe0e\ufe0f")
# What models call the signs that stand before and after a text; T5 begins an answer with its padding.
_STARTS = frozenset(
    ("<|start|>", "<s>", "[CLS]", "<cls>", "<bos>", "[BOS]", "<|bos|>", "<|begin_of_text|>", "<|startoftext|>", "<|im_start|>")
)
_ENDS = frozenset(
    ("<|end|>", "</s>", "[SEP]", "<sep>", "<eos>", "[EOS]", "<|eos|>", "<|end_of_text|>", "<|endoftext|>", "<|im_end|>")
)
_PADS = frozenset(("<pad>", "[PAD]"))
PART = "part of a character"
T = TypeVar("T")
_BYTES = re.compile(r"(?:<0x[0-9A-Fa-f]{2}>)+")
_FRAGMENT = re.compile(f" ?{_BYTES.pattern}")


def label(text: str) -> str:
    """Return a token's text with every character visible: `" dog"` is `"·dog"`, a newline `"↵"`, a tab `"⇥"`, NUL `"␀"`, a joiner
    `"U+200D"`.

    Spaces at either end become "·". Lone surrogates are written `"U+D800"`; byte fragments such as `"<0xF0>"` stay. The label of
    a non-empty text is never empty.
    """
    return "".join(pieces(text))


def named(text: str) -> str:
    """Return the `label` of a token for a sentence: without the space before its word; a token of only spaces stays visible."""
    return label(text.strip(" ") or text)


def listed(text: str, fragment: bool = True) -> str:
    """Return the `label` of a token for a menu: bytes that are no character by themselves as "part of a character (byte C3)".

    fragment: whether the token contains such bytes; in typed text, "<0xC3>" may be six letters.
    """
    return _BYTES.sub(_bytes_in_words, label(text)) if fragment else label(text)


def _bytes_in_words(match: re.Match[str]) -> str:
    numbers = match[0][3:-1].split("><0x")
    return f"{PART} ({'byte' if len(numbers) == 1 else 'bytes'} {' '.join(numbers)})"


def pieces(text: str) -> list[str]:
    """Return the `label` in pieces that alternate between the token's own text (even places) and marks that replace text (odd
    places).
    """
    body = text.strip(" ")
    left = len(text) - len(text.lstrip(" ")) if body else len(text)
    right = len(text) - left - len(body)
    parts = _Parts()
    parts.mark(_SPACE * left)
    _write(parts, body, reading=False)
    parts.mark(_SPACE * right)
    return parts.done


def reading_pieces(text: str) -> list[str]:
    """Return the `pieces` for a paragraph: spaces, tabs and line breaks stay themselves, and joiners stay inside a word."""
    parts = _Parts()
    _write(parts, text, reading=True)
    return parts.done


def is_fragment(text: str) -> bool:
    """Return whether the text is that of a byte fragment, such as `"<0xF0>"`."""
    return _FRAGMENT.fullmatch(text) is not None


def kinds(tokens: Sequence[Any]) -> list[int]:
    """Return the kind of each token: 0 ordinary, 1 special, 2 a byte fragment."""
    return [1 if token.special else 2 if token.fragment else 0 for token in tokens]


def row_names(tokens: Sequence[Any]) -> list[str] | None:
    """Return the names of the rows of cross-attention, by the token just read and the token that it serves to choose: "after
    “le”, choosing “chat”". None for tokens without an `after`, which are no such rows."""
    if not tokens or not getattr(tokens[0], "after", None):
        return None
    return [f"after {quoted(token.after)}, choosing {quoted(token)}" for token in tokens]


def plain_signs(tokens: Sequence[T], first: bool = True) -> list[T]:
    """Return the tokens as beginners read them: the untyped special tokens for the start and the end of a text as “start” and
    “end”, bytes that are no character by themselves as “part of a character”.

    first: whether the first of them is the first that the model reads: some models begin with the special token that others end
    with. Other special tokens (a language, a mask) keep their names.
    """
    return [_plain_sign(token, first and i == 0) for i, token in enumerate(tokens)]


def plain_sign(text: str) -> str:
    """Return a predicted token as beginners read it: the special token for the end of a text as “end”, bytes as “part of a
    character”."""
    return "end" if text in _ENDS else PART if is_fragment(text) else text


def plain_name(text: str) -> str:
    """Return a token of a text as beginners read it: the special token for its start as “start”, others as `plain_sign`."""
    return "start" if text in _STARTS else plain_sign(text)


def _plain_sign(token: Any, first: bool) -> Any:
    if before := getattr(token, "after", None):
        token = replace(token, after=_plain_sign(before, before.end == 0))
    if token.fragment and is_fragment(token.text):
        return replace(token, text=PART)
    if not token.special or token.start < token.end:
        return token
    begins = token.text in _STARTS or (first and token.text in _ENDS | _PADS)
    return replace(token, text="start" if begins else plain_sign(token.text))


def quoted(token: Any) -> str:
    """Return a token for a sentence: its text in quotation marks, without spaces around it; a special token unchanged."""
    return named(token.text) if token.special else f"“{named(token.text)}”"


class _Parts:
    def __init__(self) -> None:
        self.done: list[str] = [""]

    def own(self, text: str) -> None:
        self._add(text, place=0)

    def mark(self, text: str) -> None:
        self._add(text, place=1)

    def _add(self, text: str, place: int) -> None:
        if not text:
            return
        if (len(self.done) - 1) % 2 != place:
            self.done.append("")
        self.done[-1] += text


def _write(parts: _Parts, text: str, reading: bool) -> None:
    if text.isascii() and text.isprintable():  # nearly every token
        parts.own(text)
        return
    for i, character in enumerate(text):
        if reading and (character in " \n\t" or (character in _KEPT_INSIDE and i > 0 and not _hidden(text[i - 1]))):
            parts.own(character)
            continue
        written = _hidden(character)
        if written:
            parts.mark(written)
            continue
        if unicodedata.category(character)[0] == "M" and (i == 0 or text[i - 1] == " " or _hidden(text[i - 1])):
            parts.mark(_CARRIER)  # an accent without its letter would sit on its neighbour
        parts.own(character)


def _hidden(character: str) -> str:
    """Return the sign for an invisible character, "" for a visible one."""
    code = ord(character)
    if character == "\n":
        return _NEWLINE
    if character == "\t":
        return _TAB
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    category = unicodedata.category(character)
    invisible = (
        category in ("Cc", "Cs", "Zl", "Zp")
        or (category == "Cf" and character not in _SIGNS)
        or (category == "Zs" and character != " ")
        or (code & 0xFFFE) == 0xFFFE  # not characters at all
        or 0xFDD0 <= code <= 0xFDEF
        or _BLANK.match(character)
    )
    return f"U+{code:04X}" if invisible else ""
