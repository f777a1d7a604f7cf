"""All words of the lexicon in a list, with what each means at this level and where the app shows it."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from models.errors import FileError
from ui import state
from ui.lexicon import files, sent
from ui.lexicon.files import LEVELS, Entry
from ui.text import plain
from ui.words import say, words

HERE = Path(__file__).parent


def draw(language: str) -> None:
    """The box to look for one, and the list. language: of the sentences, "" for that of the pages."""
    say(HERE, "words")
    sought = st.text_input(
        words(HERE, "look for"), key=state.WORD_SOUGHT.name, bind="query-params", live="80ms", icon=":material/search:", width=320
    )
    state.keep(state.WORD_SOUGHT, sought, "")
    try:
        entries = files.entries(language or files.FIRST)
    except FileError as error:
        st.error(plain(str(error)), icon=":material/report:")
        return
    level = LEVELS.index(state.level())
    found = [one for one in entries.values() if holds(one, sought, level)]
    found.sort(key=lambda one: (not one.title.lower().startswith(sought.strip().lower()), one.title.lower()))
    with st.container(key="wordlist"):
        st.markdown("\n\n".join(line(one, level) for one in found) or words(HERE, "no word", sought=plain(sought.strip())))


def holds(entry: Entry, sought: str, level: int) -> bool:
    """Whether a word, one of its forms or what is said of it has these letters."""
    return sought.strip().lower() in " ".join([entry.title, entry.word, *entry.also, entry.said[level]]).lower()


def line(entry: Entry, level: int) -> str:
    """A word, what it means, and links; those stay in the app (see `ui/lexicon.js`)."""
    links = [f"[{plain(words)}](./{href}#{to}-{entry.name})" for to, href, words in sent.links(entry)]
    said = entry.said[level].replace("{layer}", "1").replace("{head}", "2")
    said = f"L1 H2: {said}" if said != entry.said[level] else said
    return f"**{plain(entry.title)}**  \n{plain(said)}  \n:small[{' · '.join(links)}]"
