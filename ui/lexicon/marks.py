"""The text of a page, with technical terms marked as links where they first appear; the browser shows their meaning on a click.

A mark is `[attention](#w-attention)`, in Markdown and on boards alike. Marks are put into a page's own words before names and
numbers are filled in, so nothing that a visitor or a model has written is ever marked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from models.errors import FileError
from ui.lexicon import files

HEAD = re.compile(r"(?:(?:[Ee]ncoder|[Dd]ecoder|[Cc]ross) )?L\d{1,3} H\d{1,3}")  # a head as pages write it
HEAD_NAME = "head-name"  # the entry that says how heads are named
# Not looked at: code, formulas, links, what is filled in, and names of choices and pages (“Two texts”, *Expert*, page Heads).
PASSED = re.compile(
    r"`[^`]*`|\$[^$]*\$|\[[^\]]*\]\([^)]*\)|\{[^}]*\}|“[A-Z][^”]*”|(?<!\*)\*[A-Z][^*]*\*(?!\*)|\b[Pp]ages? [A-Z]\w*"
)
FILLED = re.compile(r"L\{layer\} H\{head\}|\{[a-z_]+\}")
SENTENCE = re.compile(r"[.!?:](?:\*\*)?$")  # ends a line of words; a title has none
BEGINS = re.compile(r"(?:^|[.!?:]\s+|\n\s*)(?:- )?\**$")  # what stands before a word with a large letter that is no name


class Spot(NamedTuple):
    """A place in a page's words that could be marked. name: of the entry, "" for a value that is filled in."""

    start: int
    end: int
    name: str


class Marked(str):
    """Words whose marks are all our own, and none a visitor's."""

    __slots__ = ()


class Words:
    """The words of pages for one reader.

    level: the level of the words. touched: returns whether the reader has no mouse, so that sentences say “press” instead of
    “point at”. first: the terms that are already marked, by entry, and where; new marks are added to it. None: nothing is marked.
    """

    def __init__(self, level: str, touched: Callable[[], bool], first: dict[str, str] | None):
        self.level, self.touched, self.first = level, touched, first

    def __call__(self, folder: Path, heading: str, **values: object) -> Marked:
        """Return a page's text under a heading, with `{name}` replaced by values; "" if there is none. A number and its % stay
        on one line."""
        text = sections_at(folder, self.level).get(heading, "")
        if "help" not in heading.split():  # a note that goes when the pointer leaves cannot be pressed
            text = self.mark(text, f"{folder.name} {heading}", values)
        if "oint at" in text and self.touched():
            text = text.replace("Point at", "Press").replace("point at", "press")
        text = re.sub(r"\{([a-z_]+)\}", lambda name: escape_marks(values.get(name[1], name[0])), text)
        return Marked(capitalize_heads(text.replace(" %", "\u00a0%")))

    def heading_for(self, folder: Path, heading: str, case: str) -> str:
        """Return a heading with its case, "where labels", if the page has words for that case; else the heading alone."""
        of_case = f"{heading} {case}"
        return of_case if case and of_case in sections_at(folder, self.level) else heading

    def mark(self, text: str, place: str, values: Mapping[str, object]) -> str:
        """Mark each technical term in a page's words where it first appears on the page.

        place: identifies the words, so that the same ones are marked when they are shown again. values: the values to be filled
        in: the names of heads are marked too.
        """
        first = self.first
        if first is None:
            return text
        pieces, end, here = [], 0, set[str]()
        for spot in spots(text):
            name = spot.name
            if not name and HEAD.fullmatch(FILLED.sub(lambda hole: fill_hole(hole[0], values), text[spot.start : spot.end])):
                name = HEAD_NAME
            if not name or name in here or first.setdefault(name, place) != place:
                continue
            here.add(name)
            pieces += [text[end : spot.start], f"[{text[spot.start : spot.end]}](#w-{name})"]
            end = spot.end
        return "".join([*pieces, text[end:]])

    def mark_head(self, name: str) -> str:
        """Mark a head's name in a title if it is the first on the page."""
        return self.mark("{head}.", f"title {name}", {"head": name})[:-1].replace("{head}", name)


@lru_cache(maxsize=64)
def sections(path: Path) -> dict[str, str]:
    """Return the sections of a Markdown file by their `## heading`."""
    parts = re.split(r"^## +(.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading.strip(): body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


@lru_cache(maxsize=64)
def sections_at(folder: Path, level: str) -> dict[str, str]:
    """Return the sections of a page's text at a level."""
    return sections(folder / f"{level}.md")


def capitalize_heads(text: str) -> str:
    """Capitalize the name of a head that begins a sentence: "Cross L2 H1 looks at"."""
    return re.sub(
        r"(^|[.!?:] \**)(\[?)(cross|encoder|decoder)(?= L\d)",
        lambda match: match[1] + match[2] + match[3].capitalize(),
        text,
        flags=re.M,
    )


def fill_hole(hole: str, values: Mapping[str, object]) -> str:
    """Return the value to be filled in, as readers will see it."""
    return re.sub(r"\{([a-z_]+)\}", lambda name: str(values.get(name[1], "")), hole)


def escape_marks(value: object) -> str:
    """Escape a value for a page's words, so that a mark that somebody typed is not one of ours."""
    return str(value) if isinstance(value, Marked) else re.sub(r"(?<!\\)\[(?=[^\]]*\]\(#w-)", r"\\[", str(value))


@lru_cache(maxsize=2048)
def spots(text: str) -> tuple[Spot, ...]:
    """Return the places that could be marked: in sentences, not in titles or labels."""
    forms, looked_for, unless = patterns()
    passed = [match.span() for pattern in (PASSED, unless) for match in pattern.finditer(text)]
    places, start = list[Spot](), 0
    for line in text.split("\n"):
        if SENTENCE.search(line.rstrip()) or line.startswith("- "):
            places += [Spot(start + a.start(), start + a.end(), "") for a in FILLED.finditer(line)]
            for match in looked_for.finditer(line):
                a, b = start + match.start(), start + match.end()
                large = match[0] not in forms
                if large and not BEGINS.search(text[:a]):
                    continue
                if not any(left < b and a < right for left, right in passed):
                    places.append(Spot(a, b, forms[match[0] if not large else match[0][0].lower() + match[0][1:]]))
        start += len(line) + 1
    return tuple(sorted(places))


@lru_cache(maxsize=1)
def patterns() -> tuple[dict[str, str], re.Pattern, re.Pattern]:
    """Return the entries by their forms on pages; the pattern of these forms, also with a capital letter and in the plural; and
    the pattern of phrases in which they mean something else."""
    try:
        entries = files.entries()
    except FileError:
        return {}, re.compile(r"(?!)"), re.compile(r"(?!)")
    forms: dict[str, str] = {}
    for entry in entries.values():
        for form in (entry.word, *entry.also):
            forms.setdefault(form, entry.name)
            forms.setdefault(f"{form}s", entry.name)
    either = [f"[{re.escape(form[0])}{form[0].upper()}]{re.escape(form[1:])}" for form in sorted(forms, key=len, reverse=True)]
    unless = "|".join(re.escape(phrase) for entry in entries.values() for phrase in entry.unless)
    looked_for = rf"(?<![\w\-–])(?:{'|'.join(either) or '(?!)'})(?![\w\-–])"
    return forms, re.compile(looked_for), re.compile(unless or r"(?!)", re.IGNORECASE)
