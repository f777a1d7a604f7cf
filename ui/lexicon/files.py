"""The lexicon: technical terms, each explained at three levels, in Markdown files that people read and translate."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from stat import S_ISREG
from typing import Any, NoReturn

from models.errors import FileError
from models.huggingface.names import quoted, short
from ui.written import mapping

SHIPPED = Path(__file__).parents[2] / "lessons" / "lexicon"
FIRST = "en"  # the language of the pages
LEVELS = ("beginner", "intermediate", "expert")
ENTRY, BLOCK = re.compile(r"^## +(.+)$", re.M), re.compile(r"^```yaml\n(.*?)^```\n?", re.M | re.S)
LEVEL = re.compile(r"^\*\*(\w+)\.\*\* +", re.M)
KINDS = {"also": list, "unless": list, "title": str, "lesson": str, "see": dict}
MARKS = re.compile(r"[*`$<>\[\]]|\\")
LONGEST = 420  # characters of what is said at a level: it is read in a small frame, beside something else
LARGEST = 200_000  # bytes of a file


@dataclass(frozen=True)
class Entry:
    """A technical term. word: its form on pages; also: its other forms there; unless: phrases in which it means something else.
    meanings: its explanation at each level. see: the page and the choices that show it, as an address names them. lesson: the
    lesson that teaches it, "" for none. line: of its heading; block: its settings, from the line `begins` on."""

    word: str
    title: str
    also: tuple[str, ...]
    unless: tuple[str, ...]
    meanings: tuple[str, str, str]
    see: Mapping[str, Any] = field(default_factory=dict)
    lesson: str = ""
    file: str = ""
    line: int = 1
    block: str = ""
    begins: int = 1

    @property
    def name(self) -> str:
        """Its name in a link: small letters and hyphens."""
        return name_of(self.word)

    def refuse(self, sentence: str, about: str = "") -> NoReturn:
        """Raise FileError with the line of that name in its block; without a name, with the line of its heading."""
        lines = self.block.split("\n")
        place = next((at for at, line in enumerate(lines) if about and re.search(rf"\b{re.escape(about)}\s*:", line)), None)
        raise FileError(self.file, self.line if place is None else self.begins + place, sentence)


def name_of(word: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", word.lower()).strip("-")


def folders() -> list[Path]:
    """Return the folders of the files: the one that ships, and that in a teacher's own folder of lessons."""
    own = os.environ.get("HEADLIGHT_LESSONS", "")
    return [SHIPPED, *([Path(own) / "lexicon"] if own else [])]


def languages() -> list[str]:
    return sorted({file.stem for folder in folders() for file in folder.glob("[a-z][a-z].md")})


def stamps(language: str = FIRST) -> tuple[tuple[Path, int], ...]:
    """Return the files of a language, in their order, and when each was last changed."""
    files = [folder / f"{stem}.md" for stem in dict.fromkeys((FIRST, language)) for folder in folders()]
    changed = ((file, changed_at(file)) for file in files)
    return tuple((file, when) for file, when in changed if when is not None)


def changed_at(file: Path) -> int | None:
    """Return when a file was last changed, in nanoseconds; None without a file."""
    try:
        known = file.stat()
    except (OSError, ValueError):
        return None
    return known.st_mtime_ns if S_ISREG(known.st_mode) else None


def entries(language: str = FIRST) -> Mapping[str, Entry]:
    """Return all entries by their names, in order: in a language, or, where that has no entry, in the language of the pages.
    Errors: FileError where a file is wrong."""
    return merge(stamps(language))


@lru_cache(maxsize=16)
def merge(files: tuple[tuple[Path, int], ...]) -> Mapping[str, Entry]:
    """Merge the entries of several files; later files override earlier ones."""
    entries_by_name: dict[str, Entry] = {}
    for file, _ in files:
        for name, entry in read(file).items():
            if file.stem == FIRST:
                entries_by_name[name] = entry
            elif name in entries_by_name:
                entries_by_name[name] = translate_entry(entries_by_name[name], entry)
            else:
                entry.refuse(f"{quoted(entry.word)} is no word of {FIRST}.md. The heading of a translation is the English word.")
    return entries_by_name


def translate_entry(first: Entry, other: Entry) -> Entry:
    """Return an entry with translated explanations; its links and its forms on pages are the original's."""
    return Entry(
        first.word,
        other.title,
        first.also,
        first.unless,
        other.meanings,
        first.see,
        first.lesson,
        other.file,
        other.line,
        other.block,
    )


def read(file: Path) -> dict[str, Entry]:
    """Read the entries of a file. Errors: FileError."""
    if file.stat().st_size > LARGEST:
        raise FileError(file.name, 1, f"The file has more than {LARGEST:,} bytes. Make it shorter.")
    try:
        return parse(file.read_text(encoding="utf-8").replace("\r\n", "\n"), file.name)
    except UnicodeDecodeError:
        raise FileError(file.name, 1, "The file is not UTF-8 text. Save it as UTF-8.") from None


def parse(text: str, file: str = "lexicon") -> dict[str, Entry]:
    """Parse the entries of a text, by their names. Errors: FileError."""
    parts, entries_by_name, forms = ENTRY.split(text), dict[str, Entry](), dict[str, str]()
    lines = [text[: heading.start()].count("\n") + 1 for heading in ENTRY.finditer(text)]
    for word, body, line in zip(parts[1::2], parts[2::2], lines, strict=True):
        entry = entry_of(word.strip(), body, file, line)
        if entry.name in entries_by_name:
            entry.refuse(f"{quoted(entry.word)} stands here twice. Make one of the two.")
        for form in (entry.word, *entry.also):
            if form in forms:
                entry.refuse(f"{quoted(form)} already stands for {quoted(forms[form])}. Leave it out here or there.")
            forms[form] = entry.word
        entries_by_name[entry.name] = entry
    if not entries_by_name:
        raise FileError(file, 1, "There is no entry. Each begins with “## ” and its word.")
    return entries_by_name


def entry_of(word: str, body: str, file: str, line: int) -> Entry:
    match = BLOCK.search(body)
    block = match[1] if match else ""
    begins = line + body[: match.start(1)].count("\n") if match else line
    entry = Entry(word, word, (), (), ("", "", ""), file=file, line=line, block=block, begins=begins)
    if not name_of(word):
        entry.refuse("The heading needs letters.")
    values = values_of(entry, block)
    meanings = levels_of(entry, BLOCK.sub("", body, count=1))
    also, unless = (tuple(map(str, values.get(name, ()))) for name in ("also", "unless"))
    see, lesson = values.get("see", {}), values.get("lesson", "")
    return replace(entry, title=values.get("title", word), also=also, unless=unless, meanings=meanings, see=see, lesson=lesson)


def values_of(entry: Entry, block: str) -> dict[str, Any]:
    """Return the settings in an entry's block. Errors: FileError."""
    values = mapping(block, entry.file, entry.begins)
    for name, value in values.items():
        if name not in KINDS:
            entry.refuse(f"An entry has no {quoted(name)}. It has {', '.join(KINDS)}.", str(name))
        if not isinstance(value, KINDS[name]):
            wanted = {list: "a list, as [one, two]", str: "a text", dict: "names and values, as {page: type}"}[KINDS[name]]
            entry.refuse(f"“{name}:” needs {wanted}.", name)
    return values


def levels_of(entry: Entry, body: str) -> tuple[str, str, str]:
    """Return the explanation at each level; a level without one has that of the level below. Errors: FileError."""
    parts = LEVEL.split(body)
    if parts[0].strip():
        entry.refuse(f"What is said of {quoted(entry.word)} begins with its level: “**Beginner.** …”.")
    meanings: dict[str, str] = {}
    for level, text in zip(parts[1::2], parts[2::2], strict=True):
        text = " ".join(text.split())
        if level.lower() not in LEVELS or level.lower() in meanings:
            entry.refuse(f"“**{short(level)}.**” is no level, or stands here twice. They are Beginner, Intermediate and Expert.")
        if not text.endswith((".", "?", "!")):
            entry.refuse(f"What is said at the level {quoted(level)} is a sentence and ends with its full stop.")
        if len(text) > LONGEST:
            entry.refuse(
                f"“{level}” has {len(text)} characters, and at most {LONGEST} are read in a small frame. Make it shorter."
            )
        if mark := MARKS.search(text):
            entry.refuse(f"“{mark[0]}” would be shown as it stands, for these sentences are plain text. Write it in words.")
        meanings[level.lower()] = text
    if "beginner" not in meanings:
        entry.refuse(f"{quoted(entry.word)} needs “**Beginner.** …” with a sentence.")
    beginner = meanings["beginner"]
    intermediate = meanings.get("intermediate", beginner)
    return beginner, intermediate, meanings.get("expert", intermediate)
