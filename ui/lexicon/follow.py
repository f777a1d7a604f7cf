"""Follows a clicked link of the lexicon: to a place in the app that shows the term, its lesson, or the list of terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from models.errors import FileError
from models.huggingface.names import quoted
from ui import document, state
from ui.lessons import course
from ui.lessons import files as lessons
from ui.lexicon import files, payload
from ui.lexicon.files import FIRST, LEVELS, Entry
from ui.written import Block

LISTED = state.LEARN.values[1]  # the part of page Lessons that has them all


def bring() -> None:
    """Let the browser respond to clicks on marked terms. Every run of a page calls it."""
    language = state.LESSON_LANGUAGE.get()
    language = language if language == FIRST or language in files.languages() else FIRST
    data = {"from": payload.address(language), "level": LEVELS.index(state.level()), "language": language}
    document.explain(data, lambda: follow(state.selection(document.EXPLAIN).followed))


def follow(asked: Any) -> None:
    """Follow a link in the next run. asked: the browser's message, {"word": an entry's name, "to": "see", "lesson" or "all"}; any
    other message is ignored."""
    match asked:
        case {"to": "all"}:
            go("lessons", {state.LEARN.name: LISTED})
        case {"word": str(name), "to": "see" | "lesson" as to} if entry := files.entries().get(name):
            if to == "lesson" and (lesson := lessons.find(entry.lesson)):
                course.begin(lesson)
            elif to == "see" and entry.see:
                page, link = place_of(entry)
                go(page, link)


def place_of(entry: Entry) -> tuple[str, dict[str, str]]:
    """Return the page that shows an entry, and its choices as an address writes them. Errors: FileError."""
    try:
        link = lessons.choices(Block(dict(entry.see), entry.block, entry.file, entry.begins), entry.see, ("page",))
    except FileError as error:
        entry.refuse(error.sentence, "see")
    return link.pop("page"), link


def check(entries: Mapping[str, Entry]) -> None:
    """Check an entry's links. Errors: FileError for an entry that leads nowhere."""
    for entry in entries.values():
        if entry.see and "page" not in entry.see:
            entry.refuse("“see:” needs a page, as {page: type}.", "see")
        if entry.see:
            place_of(entry)
        if entry.lesson and entry.lesson not in lessons.files():
            entry.refuse(f"There is no lesson {quoted(entry.lesson)}. There are {', '.join(lessons.files())}.", "lesson")


def go(page: str, link: Mapping[str, str]) -> None:
    """Go to a page with these choices. Text, model and level stay unless the place needs others; the level can only rise."""
    texts = {key.name: (key.get() if key.is_set else key.of("last").get()) or key.default for key in (state.TEXT, state.TARGET)}
    texts = {} if "model" in link else texts
    level = max(state.level(), link.get("level", LEVELS[0]), key=LEVELS.index)
    state.LESSON_NEXT.set((page, {**texts, **link, "level": level}))
