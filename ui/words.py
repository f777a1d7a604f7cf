"""The text of a page at the chosen level, from Markdown files beside the page, which a teacher can rewrite."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import streamlit as st

from ui import state
from ui.device import is_touched
from ui.lexicon.marks import Marked, escape_marks, mark


@lru_cache(maxsize=64)
def sections(path: Path) -> dict[str, str]:
    """Return the sections of a Markdown file by their `## heading`."""
    parts = re.split(r"^## +(.+)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {heading.strip(): body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


@lru_cache(maxsize=64)
def sections_at(folder: Path, level: str) -> dict[str, str]:
    """Return the sections of a page's text at a level."""
    return sections(folder / f"{level}.md")


def words(folder: Path, heading: str, **values: object) -> str:
    """Return the page's text under a heading at this level, with `{name}` replaced by values; "" if there is none.

    A number and its % stay on one line. Who has no mouse is told to press, not to point at something. Words of the field are
    marked where they first stand on the page (`ui.lexicon.marks`).
    """
    text = sections_at(folder, state.level()).get(heading, "")
    if "help" not in heading.split():  # a note that goes when the pointer leaves cannot be pressed
        text = mark(text, f"{folder.name} {heading}", values)
    if "oint at" in text and is_touched():
        text = text.replace("Point at", "Press").replace("point at", "press")
    text = re.sub(r"\{([a-z_]+)\}", lambda name: escape_marks(values.get(name[1], name[0])), text)
    return Marked(capitalize_heads(text.replace(" %", "\u00a0%")))


def paragraph(folder: Path, *headings: str, **values: object) -> str:
    """Return the page's text under several headings as one paragraph (see `words`)."""
    return Marked(" ".join(text for heading in headings if (text := words(folder, heading, **values))))


def heading_for(folder: Path, heading: str, case: str) -> str:
    """A heading with a case behind it, "where labels", if the page says something else there at this level; else the heading."""
    of_case = f"{heading} {case}"
    return of_case if case and of_case in sections_at(folder, state.level()) else heading


def capitalize_heads(text: str) -> str:
    """A text in which a head that begins a sentence has a capital: "Cross L2 H1 looks at"."""
    return re.sub(
        r"(^|[.!?:] \**)(\[?)(cross|encoder|decoder)(?= L\d)",
        lambda match: match[1] + match[2] + match[3].capitalize(),
        text,
        flags=re.M,
    )


def say(folder: Path, heading: str, **values: object) -> None:
    """Place `words` as quiet text."""
    if text := words(folder, heading, **values):
        st.caption(text)
