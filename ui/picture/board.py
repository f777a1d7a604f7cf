"""Boards: the pictures and words of a text, composed without Streamlit, and packed as bytes for the browser."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ui.lexicon.marks import Marked, Words
from ui.look import Look
from ui.parts import APART, complaint, part
from ui.picture.picture import Picture
from viz.view import View
from viz.views.board import Card, Part, board

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Note:
    """A sentence beside or in place of a picture, as Markdown.

    kind: "caption", "text", "info"; "error", whose text is plain; or "code", in Python. icon: of an "info", as Streamlit names
    it. fold: the name of what a reader unfolds to read it, with its neighbours of the same fold; "" where it stands open.
    """

    text: str
    kind: str = "caption"
    icon: str = ""
    fold: str = ""


@dataclass(frozen=True)
class Table:
    """A table among the pictures. scrolls: whether long rows scroll, because there is no column of names."""

    rows: pd.DataFrame
    scrolls: bool = False


Content = View | Picture | Note | Table
"""A view of ours; a picture that Streamlit draws, such as a Plotly figure; the sentence in place of either; or a table."""


Frame = tuple[tuple[tuple[str, object], ...], tuple[Note, ...]]
"""The keys of a board in order, each with what Streamlit draws there, None for a view; and the sentences beside."""


@dataclass(frozen=True)
class Board:
    """The pictures and words that a page shows of a text.

    contents: by the keys under which a page mounts them, in order. beside: sentences in the column of words. pictures: those that
    can be downloaded. explained: the technical terms that are marked here, by entry, and where.
    """

    contents: Mapping[str, Content]
    beside: tuple[Note, ...] = ()
    pictures: tuple[Picture, ...] = ()
    explained: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> dict[str, bytes]:
        """The bytes of the views, by their keys."""
        return {key: content.data for key, content in self.contents.items() if isinstance(content, View)}

    @property
    def frame(self) -> Frame | None:
        """The surroundings of the views; None if a picture of the text that Streamlit draws is among them."""
        around = [(key, fixed(content)) for key, content in self.contents.items()]
        return None if any(content is TEXT for _, content in around) else (tuple(around), self.beside)


TEXT = object()  # what stands for a picture of the text


def fixed(content: Content) -> object:
    """Return what Streamlit draws, as a value that can be compared; None of a view, `TEXT` of a picture of the text."""
    if isinstance(content, Table):
        return content.rows.to_csv()
    if isinstance(content, Picture):
        return TEXT if {"trace", "seen"} & {*content.takes} else (content.recipe, repr(content.options))
    return content if isinstance(content, Note) else None


class Draft:
    """A board while it is composed: the words and pictures of a page for one look. folder: that of the page's words."""

    def __init__(self, folder: Path, look: Look):
        self.folder, self.look = folder, look
        first = None if look.explained is None else dict(look.explained)
        self.reader = Words(look.level, lambda: look.touched, first)
        self.contents: dict[str, Content] = {}
        self.beside: list[Note] = []
        self.pictures: list[Picture] = []
        self._words: dict[str, str] = {}

    def words(self, heading: str, **values: object) -> str:
        """Return the page's words under a heading (see `Words`)."""
        if values:
            return self.reader(self.folder, heading, **values)
        if heading not in self._words:  # a list has the same names several times
            self._words[heading] = self.reader(self.folder, heading)
        return self._words[heading]

    def paragraph(self, *headings: str, **values: object) -> str:
        """Return the page's words under several headings as one paragraph."""
        return Marked(" ".join(text for heading in headings if (text := self.words(heading, **values))))

    def heading_for(self, heading: str, case: str | None = None) -> str:
        """Return a heading, with its case if the page has words for it (see `Words.heading_for`). case: by default the look's."""
        return self.reader.heading_for(self.folder, heading, self.look.case if case is None else case)

    def say(self, heading: str, fold: str = "", /, **values: object) -> None:
        """Add the page's words under a heading to the column of words, as quiet text. fold: as in `Note`."""
        if text := self.words(heading, **values):
            self.beside.append(Note(text, fold=fold))

    def note(self, key: str, heading: str, **values: object) -> None:
        """Add the page's words under a heading among the pictures, as quiet text."""
        if text := self.words(heading, **values):
            self.contents[key] = Note(text)

    def add_words(self, key: str, *texts: str, title: str = "") -> None:
        """Add sentences that change with the text as a board of their own, which the line can draw (see `ui.live`).

        texts: as `Part` takes them; without any, nothing is added.
        """
        if parts := [Part(f"words {i}", None, text) for i, text in enumerate(filter(None, texts))]:
            self.contents[key] = board([Card(parts, title)], title)

    def apart(self) -> list[Part]:
        """Return a part that says that tokens were not joined to words, if that is so; else none."""
        return [Part("apart", None, APART)] if self.look.apart else []

    def part(self, name: str, build: Callable[..., Part], *arguments: object) -> Part:
        """Return the part that `build` makes from this draft; an error becomes a sentence in its place."""
        return part(name, build, self, *arguments)

    def picture(
        self,
        picture: Picture,
        above: str = "",
        below: str = "",
        late: bool = False,
        more: tuple[str, str] = ("", ""),
        folds: str = "",
    ) -> Part:
        """Return a picture as a part of a board of cards; it can be downloaded. more, folds: as in `Part`."""
        self.pictures.append(picture)
        return picture.on_board(above, below, late, more, folds)

    def add_cards(self, key: str, cards: Sequence[Card], label: str, later: Sequence[str] = (), answers: str = "") -> None:
        """Add a board of cards (see `viz.board`)."""
        self.contents[key] = board(cards, label, later, answers)

    def add(self, picture: Picture | Note, key: str) -> None:
        """Add a picture, which can be downloaded, under its own key; or, under `key`, the sentence in its place."""
        if isinstance(picture, Note):
            self.contents[key] = picture
            return
        self.contents[picture.key] = picture.drawn if isinstance(picture.drawn, View) else picture
        self.pictures.append(picture)

    @contextmanager
    def attempt(self, name: str, key: str = "") -> Iterator[None]:
        """Turn an error in this `with` block into a sentence in its place: under a key, or in the column of words."""
        try:
            yield
        except Exception as error:
            note = Note(complaint(name, error), "error")
            if key:
                self.contents[key] = note
            else:
                self.beside.append(note)

    def finished(self) -> Board:
        before = self.look.explained or {}
        marked = {name: place for name, place in (self.reader.first or {}).items() if name not in before}
        return Board(self.contents, tuple(self.beside), tuple(self.pictures), marked)


def joined(boards: Iterable[Board]) -> Board:
    """Return the boards of the parts of a page as one."""
    whole = Board({})
    for other in boards:
        whole = Board(
            {**whole.contents, **other.contents},
            (*whole.beside, *other.beside),
            (*whole.pictures, *other.pictures),
            {**whole.explained, **other.explained},
        )
    return whole


def compose_parts(compose: Callable[..., Board], look: Look, parts: Iterable[tuple[object, ...]]) -> Board:
    """Compose the parts of a page as one board: each marks those words of the field that the parts before it have not marked.

    parts: what `compose` takes besides a look, for each.
    """
    boards, marked = list[Board](), look.explained
    for chosen in parts:
        boards.append(compose(replace(look, explained=marked), *chosen))
        marked = None if marked is None else {**marked, **boards[-1].explained}
    return joined(boards)
