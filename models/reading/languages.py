"""Languages of texts for a translator of many languages: named by a sign at the front, as in "fra_Latn Bonjour"."""

from __future__ import annotations

import re
from collections.abc import Iterable

FIRST_WORD = re.compile(r"\s*(\S+)(?:\s+|$)")


def sign(language: str) -> str:
    """Return a language as it is written at the front of a text: unchanged, but M2M100's "fr" as "__fr__"."""
    return language if "_" in language else f"__{language}__"


def language_of(text: str, languages: Iterable[str]) -> tuple[str, int]:
    """Return the language that a text names at its front, and the character where the rest begins; "" and 0 without one."""
    first = FIRST_WORD.match(text)
    language = next((candidate for candidate in languages if first and first[1] == sign(candidate)), "")
    return (language, first.end()) if first and language else ("", 0)


def in_language(text: str, language: str, languages: Iterable[str]) -> str:
    """Return the text with the sign of a language at its front, replacing any other; language "": without a sign."""
    rest = text[language_of(text, languages)[1] :]
    return f"{sign(language)} {rest}" if language else rest
