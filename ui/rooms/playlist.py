"""A playlist: pages with all that is chosen there, and questions, prepared for a class; and its file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from models.errors import FileError
from ui import state
from ui.escaping import display_name
from ui.lessons import files
from ui.menu import TITLES
from ui.rooms.position import model_in_use, text_of
from ui.rooms.questions import WRITTEN, Question, RoomError, line, prepare
from ui.written import Block

PAGES = (*files.PAGES, "lessons")
ENTRIES = 60  # of a playlist at most
LARGEST = 400_000  # characters of a file
VALUE = state.LINKED  # characters of a value, as of a text in an address
NOT_KEPT = {*files.OWN, state.PROJECTOR.name, state.TRAINED.name}  # of an address: where somebody is, and what is theirs alone
FREE = (state.MODEL.name, state.TEXT.name, state.TARGET.name)  # whatever they say, the page says what it makes of it
ALWAYS = (state.LEVEL.name, *FREE)  # in every entry
NOTHING = "nothing"
MODEL = {  # what the model answers to the text that the class sees, by its name in `analysis.true_answers`
    NOTHING: "",
    "what comes next": "likeliest token",
    "how many tokens the text has": "number of tokens",
    "which word matters most": "word that matters most",
}
VERSION = "headlight playlist 1"
NO_PLAYLIST = "This file is not a playlist. Open one that was saved with “Save the playlist”."
TOO_LARGE = f"This file has more than {LARGEST:,} characters, and a playlist has at most {ENTRIES} entries."
WRONG = "Entry {number} of this file cannot be used, so the file was not opened. {sentence}"


class PlaylistError(ValueError):
    """Why a file or a view cannot be used as a part of a playlist, as a sentence."""


@dataclass(frozen=True)
class Entry:
    """A page, what its link sets there, and a question that is asked about it. model: what the model answers to the question, by
    its name in `MODEL`."""

    page: str
    link: dict[str, str] = field(default_factory=dict)
    question: Question | None = None
    model: str = ""

    @property
    def name(self) -> str:
        """The page, the model, layer and head, and the text, on one line."""
        link = self.link
        where = " ".join(link[key.name] for key in (state.LAYER, state.HEAD) if key.name in link)
        text = link.get(state.TEXT.name, "")
        short = f"“{text[:30]}{'…' if len(text) > 30 else ''}”" if text else ""
        return " · ".join(filter(None, (TITLES[self.page], display_name(link.get(state.MODEL.name, "")), where, short)))


def entry_here(page: str) -> Entry:
    """Return what this visitor sees on a page; what a link asked for in vain is left out. Errors: PlaylistError for a page or a
    text that no playlist holds."""
    chosen = {**state.values_in_address(), **(state.ADDRESS.get() or {})}
    link = {name: value for name, value in chosen.items() if value and name not in ALWAYS and _exists(page, name, value)}
    texts = {key.name: text_of(key) for key in (state.TEXT, state.TARGET)}
    always = {state.LEVEL.name: state.level(), state.MODEL.name: model_in_use(), **texts}
    heads = {key.name: f"{key.name[0].upper()}{key.get()}" for key in (state.LAYER, state.HEAD) if key.get() is not None}
    return checked(page, link | heads | {name: value for name, value in always.items() if value})


def _exists(page: str, name: str, value: str) -> bool:
    """Return whether an entry may have a choice."""
    try:
        return bool(checked(page, {name: value}))
    except PlaylistError:
        return False


def checked(page: Any, link: Any) -> Entry:
    """Return an entry of which each value is one that an address may have. Errors: PlaylistError."""
    if page not in PAGES:
        raise PlaylistError(f"It needs a page, one of {', '.join(PAGES)}.")
    if not isinstance(link, dict) or not all(isinstance(value, str) for value in link.values()):
        raise PlaylistError("Its “link” needs a name and a text for each choice.")
    if long := [name for name, value in link.items() if len(value) > VALUE]:
        raise PlaylistError(f"Its “{shorten(long[0])}” has more than {VALUE:,} characters. Make it shorter.")
    if wrong := NOT_KEPT & link.keys():
        raise PlaylistError(f"Its “link” has “{min(wrong)}”, which no playlist sets.")
    values = {name: value for name, value in link.items() if name not in FREE}
    return Entry(page, {**{name: link[name] for name in FREE if name in link}, **files.choices(_Link(values, "", "", 0), values)})


class _Link(Block):
    """The choices of an entry."""

    def refuse(self, name: str, sentence: str) -> NoReturn:
        raise PlaylistError(sentence)


def shorten(text: str) -> str:
    return line(text, 40)


# ---------------------------------------------------------------- the file


def write(entries: Sequence[Entry]) -> str:
    """Return the file of a playlist."""
    return json.dumps({"kind": VERSION, "entries": [_as_values(entry) for entry in entries]}, ensure_ascii=False, indent=1)


def _as_values(entry: Entry) -> dict[str, Any]:
    values: dict[str, Any] = {"page": entry.page, "link": entry.link}
    if question := entry.question:
        values["question"] = {
            "ask": question.words,
            "kind": question.kind,
            "choices": list(question.choices),
            "right": question.right,
            "model": entry.model,
        }
    return values


def read(text: object) -> tuple[Entry, ...]:
    """Return the entries of a file. Errors: PlaylistError, a sentence for who opened it."""
    if not isinstance(text, str):
        raise PlaylistError(NO_PLAYLIST)
    if len(text) > LARGEST:
        raise PlaylistError(TOO_LARGE)
    try:
        values = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise PlaylistError(NO_PLAYLIST) from None
    match values:
        case {"kind": kind, "entries": list(rows)} if kind == VERSION and len(values) == 2:
            if len(rows) > ENTRIES:
                raise PlaylistError(TOO_LARGE)
        case _:
            raise PlaylistError(NO_PLAYLIST)
    entries = []
    for number, row in enumerate(rows, 1):
        try:
            entries.append(_entry_of(row))
        except (PlaylistError, RoomError, FileError) as error:
            raise PlaylistError(WRONG.format(number=number, sentence=error)) from None
    return tuple(entries)


def _entry_of(row: Any) -> Entry:
    match row:
        case {"page": page, "link": link, **more} if more.keys() <= {"question"}:
            entry = checked(page if isinstance(page, str) else "", link)
            return _with_question(entry, more["question"]) if "question" in more else entry
    raise PlaylistError("It needs a “page”, a “link”, and no more than a “question” besides.")


def _with_question(entry: Entry, values: Any) -> Entry:
    match values:
        case {"ask": str(ask), "kind": str(kind), "choices": list(choices), "right": str(right), "model": str(model)}:
            if len(values) == 5 and model in MODEL and all(isinstance(choice, str) for choice in choices):
                whole = max(map(len, (ask, right, *choices))) <= 2 * WRITTEN
                if not whole:
                    raise PlaylistError(f"A part of its question has more than {2 * WRITTEN} characters. Make it shorter.")
                return Entry(entry.page, entry.link, prepare(ask, kind, tuple(choices), right=right), model)
    raise PlaylistError("Its question needs “ask”, “kind”, “choices”, “right” and “model”, as a saved playlist has them.")
