"""Escapes a visitor's text for Markdown, and shortens the names of models for the screen."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from models.adapting.strength import strength_of, with_strength, without_strength

# At the end of the name of a model that was trained here (see `ui.memory.trainings`): its key, or on screen the beginning of it
KEY = re.compile(r" \([0-9a-f]{8}(?:[0-9a-f]{24})?\)$")
BREAK = "↵"  # stands for a line break in a text box, which holds a single line


def plain(text: str) -> str:
    """Return a text on one line, escaped so that Markdown, LaTeX and Streamlit's own marks show it literally."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~$<>:&])", r"\\\1", re.sub(r"\s+", " ", text))


def starred(text: str) -> str:
    """Escape the stars in a text, which a board would read as marks."""
    return text.replace("*", r"\*")


def number_below(written: str, count: int) -> int | None:
    """Return the number that decimal digits stand for, if it is below `count`; else None. A link may have too many digits for
    Python.
    """
    number = int(written) if written.isdecimal() and len(written) < 10 else count
    return number if number < count else None


def place_of(written: str, numbers: Sequence[int]) -> int | None:
    """Return the index of a number in a rising sequence; None if it is not in it."""
    number = number_below(written, max(numbers, default=-1) + 1)
    return numbers.index(number) if number in numbers else None


def display_name(name: str) -> str:
    """Return a model's name for the screen: for a folder its last part, for a model trained here its name without the key."""
    return Path(name).name if Path(name).is_absolute() else KEY.sub("", name)


def distinct_name(name: str) -> str:
    """Return a name that tells two trained models apart: with the beginning of the key only, because the whole key opens it."""
    return f"{name[: key.start()]}{key[0][:10]})" if (key := KEY.search(name)) else name


def folder_name(name: str) -> str:
    """Return the name of the folder as which a model trained here is taken away: "dates-40-steps".

    A path that ends in the name on the screen could not be typed into the picker: Streamlit's menu takes the end for its own."""
    return re.sub(r"[ ,]+", "-", KEY.sub("", without_strength(name)))


def loadable_name(name: str) -> str:
    """Return the argument of `models.load` for a model: its name, or for a model trained here the folder that it is saved as."""
    return with_strength(f"./{folder_name(name)}", strength_of(name)) if KEY.search(name) else name
