"""The text of a page at the chosen level, from Markdown files beside the page, which a teacher can rewrite."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

from ui import state
from ui.device import is_touched
from ui.lexicon.marks import Marked, Words


def spoken() -> Words:
    """Return the reader of pages' words for this visitor, with the terms that are already marked on their page."""
    return Words(state.level(), is_touched, state.EXPLAINED.get())


def words(folder: Path, heading: str, **values: object) -> str:
    """Return the page's text under a heading at this level (see `ui.lexicon.marks.Words`)."""
    return spoken()(folder, heading, **values)


def paragraph(folder: Path, *headings: str, **values: object) -> str:
    """Return the page's text under several headings as one paragraph (see `words`)."""
    return Marked(" ".join(text for heading in headings if (text := words(folder, heading, **values))))


def heading_for(folder: Path, heading: str, case: str) -> str:
    """Return a heading with its case, if the page has words for that case at this level (see `Words.heading_for`)."""
    return spoken().heading_for(folder, heading, case)


def mark_head(name: str) -> str:
    """Mark a head's name in a title if it is the first on the page."""
    return spoken().mark_head(name)


def say(folder: Path, heading: str, **values: object) -> None:
    """Place `words` as quiet text."""
    if text := words(folder, heading, **values):
        st.caption(text)


@contextmanager
def mark_again(own: set[str]) -> Iterator[None]:
    """Prepare a part of the page that runs by itself: terms that it marked last time may be marked again, and new marks are kept
    in `own`.
    """
    known = state.EXPLAINED.get()
    first = {} if known is None else known
    for name in own:
        first.pop(name, None)
    before = set(first)
    try:
        yield
    finally:  # also where the page is run again in the middle of it
        own.clear()
        own |= set(first) - before
