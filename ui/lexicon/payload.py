"""The lexicon for browsers (`ui.lexicon.routes`): fetched once, from an address that changes with its contents."""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlencode

from models.errors import FileError
from ui.lexicon import files
from ui.lexicon.files import Entry


def address(language: str) -> str:
    """Return the address from which a browser fetches the lexicon, beside the pages."""
    return f"lexicon/{build(files.stamps(language))[0]}/{language}.json"


@lru_cache(8)
def build(stamps: tuple[tuple[Path, int], ...]) -> tuple[str, str]:
    """Return a version, which changes with the contents, and the contents as JSON: by an entry's name its title, a sentence for
    each level, and its links. stamps: the files, as `files.stamps` returns them. Wrong files are not sent; page Lessons says why.
    """
    try:
        entries = files.merge(stamps)
    except FileError:
        entries = {}
    contents = {entry.name: {"title": entry.title, "said": entry.meanings, "links": links(entry)} for entry in entries.values()}
    text = json.dumps(contents, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16], text


def links(entry: Entry) -> list[tuple[str, str, str]]:
    """Return the links of an entry: what each asks for, its address, and its words."""
    see = {name: str(value).lower() if isinstance(value, bool) else value for name, value in entry.see.items() if name != "page"}
    page = entry.see.get("page", "")
    page_links = [("see", f"{page}?{urlencode(see)}" if see else page, f"See it on page {page.capitalize()}")] if page else []
    return page_links + ([("lesson", f"lessons?lesson={entry.lesson}", "Open its lesson")] if entry.lesson else [])
