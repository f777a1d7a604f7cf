"""The list of all terms of the lexicon, each with its meaning at this level and a link to where the app shows it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from models.errors import FileError
from pages.lessons import state as page_state
from ui import state
from ui.escaping import plain
from ui.lexicon import files, payload
from ui.lexicon.files import LEVELS, Entry
from ui.words import say, words

HERE = Path(__file__).parent
LONGEST = 100  # characters that are looked for
START = ("token", "model", "layer", "head", "attention", "feed-forward", "prediction", "probability")  # a beginner's words


def draw(language: str) -> None:
    """Draw the search box and the list of terms. language: of the sentences, "" for that of the pages."""
    say(HERE, "words")
    sought = st.text_input(
        words(HERE, "look for"),
        key=page_state.WORD_SOUGHT.name,
        bind="query-params",
        live="80ms",
        icon=":material/search:",
        width=320,
        max_chars=LONGEST,
    )
    state.keep(page_state.WORD_SOUGHT, sought, "")
    try:
        entries = files.entries(language or files.FIRST)
    except FileError as error:
        st.error(plain(str(error)), icon=":material/report:")
        return
    level = LEVELS.index(state.level())
    matches = [entry for entry in entries.values() if holds(entry, sought, level)]
    matches.sort(key=lambda entry: (not entry.title.lower().startswith(sought.strip().lower()), entry.title.lower()))
    start = [] if sought.strip() or level else [entries[name] for name in START]
    texts = [words(HERE, "words to start")] * bool(start) + [line(entry, level) for entry in start]
    texts += [words(HERE, "words all")] * bool(start) + [line(entry, level) for entry in matches if entry not in start]
    with st.container(key="wordlist"):
        st.markdown("\n\n".join(texts) or words(HERE, "no word", sought=plain(sought.strip())))


def holds(entry: Entry, sought: str, level: int) -> bool:
    """Return whether a word, one of its forms or its meaning contains these letters."""
    return sought.strip().lower() in " ".join([entry.title, entry.word, *entry.also, entry.meanings[level]]).lower()


def line(entry: Entry, level: int) -> str:
    """Return a term, its meaning, and its links as Markdown; the links stay in the app (see `ui/lexicon.js`)."""
    links = [f"[{plain(words)}](./{href}#{to}-{entry.name})" for to, href, words in payload.links(entry)]
    meaning = entry.meanings[level].replace("{layer}", "1").replace("{head}", "2")
    meaning = f"L1 H2: {meaning}" if meaning != entry.meanings[level] else meaning
    return f"**{plain(entry.title)}**  \n{plain(meaning)}  \n:small[{' · '.join(links)}]"
