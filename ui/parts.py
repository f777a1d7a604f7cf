"""Parts of a board, and the sentence that stands in place of what could not be drawn."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from traceback import extract_tb
from typing import Any

from models.errors import is_short_of_memory
from viz.views.board import Part

APART = "Whole words: where no spaces separate words, as in Chinese, Japanese, Thai or a protein, each token stands by itself."
ROOT = Path(__file__).parents[1]
SHORT_OF_MEMORY = "The server has too little memory for it now. Take a shorter text or a smaller model, or try again later."


def part(name: str, build: Callable[..., Part], *arguments: Any) -> Part:
    """Build a part of a board; an error becomes a message in its place."""
    try:
        return build(*arguments)
    except Exception as error:
        return Part(name, None, complaint(name, error))


def complaint(name: str, error: Exception, doing: str = "drawn") -> str:
    """Return an error as a sentence, and log its details: for a refusal only the line of code that refuses, because its sentence
    may contain a visitor's text; for any other error everything."""
    log = logging.getLogger(__name__)
    if place := refused_at(error):
        log.warning("%s could not be %s: refused by %s", name, doing, place)
        return f"{name} could not be {doing}. {error}"
    log.error("%s could not be %s", name, doing, exc_info=error)
    if is_short_of_memory(error):
        return f"{name} could not be {doing}. {SHORT_OF_MEMORY}"
    sentence = str(error) if isinstance(error, ValueError) else "Something went wrong. The server’s log says what."
    return f"{name} could not be {doing}. {sentence}"


def refused_at(error: Exception) -> str:
    """Return the file and line of our code that raised a refusal; "" for any other error."""
    frames = extract_tb(error.__traceback__)
    if not isinstance(error, ValueError) or not frames or not (frames[-1].line or "").startswith("raise "):
        return ""
    file = Path(frames[-1].filename)
    ours = any(file.is_relative_to(ROOT / folder) for folder in ("analysis", "models", "pages", "ui", "viz"))
    return f"{file.relative_to(ROOT)}:{frames[-1].lineno}" if ours else ""
