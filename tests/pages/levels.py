"""What stands on a page, by its labels and by the sections of its words: as docs/levels.md names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest

from tests.pages.opening import unmarked
from tests.serving import ROOT
from ui.lexicon.marks import sections

NO_LABELS = ("Markdown", "Caption", "Code", "MenuButton")


def labels(app: AppTest) -> set[str]:
    """What the controls on a page are called, and what is offered in them."""
    names = set[str]()
    for node in nodes(app):
        if type(node).__name__ not in NO_LABELS:
            names |= {getattr(node, "label", ""), *map(str, getattr(node, "options", ()))}
    return names - {""}


def read(app: AppTest) -> str:
    """All words that are read on a page: those of Streamlit's elements and those on boards, without marks."""
    sent = " ".join(node.proto.SerializeToString().decode("utf-8", "replace") for node in nodes(app))
    return flat(sent.replace("\\n", " ").replace('\\"', '"'))


def says(text: str, page: str, level: str, heading: str) -> bool:
    """Whether a page's text has what stands under a heading of its words, whatever is filled in."""
    files = [*(ROOT / "pages" / page).rglob(f"{level}.md"), ROOT / "ui" / "believe" / f"{level}.md"]
    words_there = next((words[heading] for words in map(sections, files) if heading in words), "")
    pieces = [flat(piece).strip() for piece in re.split(r"\{[a-z_]+\}", words_there)]
    return bool(words_there) and all(piece in text for piece in pieces if len(piece) > 3)


def flat(text: str) -> str:
    return " ".join(unmarked(text).split())


def nodes(app: AppTest) -> Iterator[Any]:
    ahead = [app._tree]
    while ahead:
        node: Any = ahead.pop()
        ahead += getattr(node, "children", {}).values()
        if not hasattr(node, "children") and getattr(node, "proto", None) is not None:
            yield node
