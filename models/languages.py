"""How a text for a translator of many languages names its language: by a sign at its front, as in "fra_Latn Bonjour"."""

from __future__ import annotations

import re
from collections.abc import Iterable

FIRST_WORD = re.compile(r"\s*(\S+)(?:\s+|$)")


def sign(language: str) -> str:
    """How a language is written at the front of a text: as it is, but M2M100's "fr" as "__fr__"."""
    return language if "_" in language else f"__{language}__"


def language_of(text: str, languages: Iterable[str]) -> tuple[str, int]:
    """The language that a text names at its front, and the character at which the rest begins; "" and 0 where it names none."""
    first = FIRST_WORD.match(text)
    language = next((one for one in languages if first and first[1] == sign(one)), "")
    return (language, first.end()) if first and language else ("", 0)


def in_language(text: str, language: str, languages: Iterable[str]) -> str:
    """The text with the sign of a language at its front, in the place of another; "": without any."""
    rest = text[language_of(text, languages)[1] :]
    return f"{sign(language)} {rest}" if language else rest
