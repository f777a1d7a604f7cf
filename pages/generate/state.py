"""The choices of page "Generate"."""

from __future__ import annotations

from typing import Any

from ui.state import Family, Key, link

GENERATE_METHOD = link("generate-method", "Draw by dice", "Always the likeliest", "Beams")
TRANSLATE_METHOD = link("translate-method", "Always the likeliest", "Draw by dice", "Beams")
GENERATE_CHAT = link("generate-chat", default=True)
GENERATE_CACHE, GENERATED = link("generate-cache", default=False), Key[Any]("generated", None, cleared_by_step=True)
GENERATE_OWN, GENERATE_SAID = link("generate-own", default=False), link("generate-said", default="")
GENERATE_BRANCH, GENERATE_AT = link("generate-branch", default=0), link("generate-at", default="")
GENERATE_SEARCHED, GENERATE_BEAM = link("generate-searched", default=0), link("generate-beam", default=1)

NUMBERS = Family("generate-", numbers=True)  # by which the next token is chosen


def generate_key(name: str, default: float) -> Key[Any]:
    """Return the key for a number by which the next token is chosen."""
    return NUMBERS.key(name, default)
