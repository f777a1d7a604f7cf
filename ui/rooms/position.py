"""A visitor's position: the page, the model, the texts, and all other choices."""

from __future__ import annotations

from typing import Any

import models
from models.errors import FileError
from ui import state
from ui.lessons import files

ABSENT: Any = object()
TEXTS = (state.TEXT, state.TARGET)

Choices = dict[str, Any]
"""A position: `page`, the `model` in use and the one `asked` for, the texts, and all else that is chosen."""


def position(page: str) -> Choices:
    """Return where this visitor is now, on a page."""
    texts = {key.name: text_of(key) for key in TEXTS}
    model = {"model": model_in_use(), "asked": asked_model()}
    return {**state.chosen(), **texts, **model, "page": page}


def model_in_use() -> str:
    return state.IN_USE.get() or models.names()[0]


def asked_model() -> str:
    return state.MODEL.get() or models.names()[0]


def text_of(key: state.Key[str]) -> str:
    """Return the text of a box: on this page, else on the last page that had it, else its initial text."""
    if (now := key.get_or(ABSENT)) is not ABSENT:
        return now or ""
    if (last := key.of("last").get_or(ABSENT)) is not ABSENT:
        return last or ""
    return key.in_address or key.default


def without_texts(at: Choices, *more: str) -> Choices:
    """Return choices without the texts, and without the model that is asked for."""
    without = {"asked", *more, *(key.name for key in TEXTS)}
    return {name: value for name, value in at.items() if name not in without}


def chosen(at: Choices) -> Choices:
    """Return the choices of a position, in the form of `state.chosen`."""
    return without_texts(at, "model", "page")


def take_texts(at: Choices) -> None:
    """Write texts into the boxes when they are next placed."""
    for key in TEXTS:
        if at.get(key.name, "") != text_of(key):
            key.of("last").set(at[key.name])
            key.of("next").set(at[key.name])


def in_words(at: Choices) -> str:
    """Return a position in words, for the leader."""
    page = str(at["page"]).capitalize()
    lesson, step = at.get(state.LESSON.name), at.get(state.LESSON_STEP.name, 1)
    return f"{page}, step {step} of “{title_of(lesson)}”" if lesson else page


def title_of(lesson: str) -> str:
    """Return a lesson's title as its readers know it, by the name of its file."""
    try:
        lesson_read = files.find(lesson)
    except FileError:
        lesson_read = None
    return lesson_read.title if lesson_read else lesson
