"""Part "One word": a word in several texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from analysis import occurrences
from pages.space import choose, recipes
from pages.space import state as page_state
from pages.space.boards.contexts import KEY
from pages.space.compose import HERE, compose
from pages.space.settings import OWN, Choice, Missing, Settings, Word
from ui.choices import text_boxes
from ui.escaping import plain
from ui.look import Look
from ui.memory import loaded
from ui.picture.mount import composed, mount_all, write_beside
from ui.picture.picture import Picture
from ui.words import paragraph, say

if TYPE_CHECKING:
    from analysis.contexts import Occurrence
    from models.trace import Trace

# Of 16 words with two meanings, the writer separates the meanings of this one by the widest margin. A test checks
# that any two places of one meaning are nearer to each other than any two of different meanings.
WORD = "left"
TEXTS = """She left the house in the morning.
The men left the town and went home.
He left his friends without a word.

He held the rope in his left hand.
She put the ring on her left hand.
The dog had hurt its left foot."""
MOST = 24  # texts, and words of the visitor's text that are offered
WHOLE_WORD = r"\w+(?:['’]\w+)*"


def draw(look: Look) -> Sequence[Picture]:
    model, trace = look.model, look.trace
    left, right = st.columns([7, 4])
    with right:
        say(HERE, "contexts")
        notice = st.container()
        results = st.container() if look.beginner else right  # beginners read the point before the boxes
        row = st.container(horizontal=True, vertical_alignment="bottom")
        word = row.text_input("The word", WORD, key=page_state.CONTEXT_WORD.name, persist_state="session", max_chars=60)
        most = text_boxes.character_limit()
        typed = st.text_area(
            "Sentences, one a line",
            TEXTS[:most],
            key=page_state.CONTEXTS.name,
            persist_state="session",
            height=220,
            max_chars=most,
            help="An empty line begins another meaning, with its own colour. Your text above also counts if the word is in it.",
        )[:most]
        say(HERE, "empty line")
        whole = st.toggle(
            "All tokens of these texts", key=page_state.CONTEXT_ALL.name, help="Also show the other tokens, in grey."
        )
    meanings = {trace.text.strip(): OWN} | typed_meanings(typed)
    texts = [text for text in meanings if text]
    if len(texts) > MOST:
        right.caption(f"Only the first {MOST} of {len(texts)} sentences are read.")
    texts = texts[:MOST]
    traces = tuple(loaded.read(model.info.name, text) for text in texts)
    stack = next(iter(trace.hidden))
    places = occurrences(word, [reading.text for reading in traces], [reading.tokens for reading in traces])
    own = own_words(trace.text, texts)
    if own:
        with row:
            st.menu_button("From your text", own, key=page_state.OWN_WORD.name, on_click=take_word, format_func=plain)
    if trace.text.strip() and places and places[0].text > 0:  # the text of the box comes first
        with notice:
            st.caption(paragraph(HERE, "context own missing", *["context own menu"] * bool(own), word=plain(word)))
    elif places and meanings[texts[0]] == OWN:
        with notice:
            say(HERE, "context own there", word=plain(word))
    with left:
        if not (word.strip() and places):
            return mount_all(composed(compose, look, Settings(), Missing(word)))
        chosen = choose.projection()
        others = pick_others(traces, places, stack, chosen) if whole else []
        states = recipes.word_points(traces, stack, word, others)[2]
        arranged = choose.arrange((model.info.name, "word", word, tuple(texts), len(others), stack), states, chosen)
        if arranged is None:
            return []
        settings = Settings(chosen, choose.followed(KEY))
        reading = Word(word, traces, stack, others, arranged, tuple(meanings[text] for text in texts))
        board = composed(compose, look, settings, reading)
        mount_all(board, {KEY: choose.follow(KEY)})
    with results:
        write_beside(board)
    return board.pictures


def take_word() -> None:
    """Follow the word that is chosen in the menu."""
    page_state.CONTEXT_WORD.set(page_state.OWN_WORD.get())


def own_words(text: str, texts: Sequence[str]) -> list[str]:
    """Return the words of the visitor's text that occur twice or more in all texts, so that there is something to compare."""
    counts = Counter(word.casefold() for each in texts for word in re.findall(WHOLE_WORD, each))
    own: dict[str, str] = {}
    for word in re.findall(WHOLE_WORD, text):
        if counts[word.casefold()] > 1:
            own.setdefault(word.casefold(), word)
    return list(own.values())[:MOST]


def typed_meanings(typed: str) -> dict[str, str]:
    """Return the meaning of each typed sentence: an empty line begins another meaning."""
    blocks = [block.split("\n") for block in re.split(r"\n\s*\n", "\n".join(typed.splitlines())) if block.strip()]
    meanings: dict[str, str] = {}
    for number, lines in enumerate(blocks, 1):
        for line in lines:
            meanings.setdefault(line.strip(), f"meaning {number}")
    return meanings


def pick_others(traces: Sequence[Trace], places: Sequence[Occurrence], stack: str, chosen: Choice) -> list[tuple[int, int]]:
    """Return the tokens beside the word, each as the number of its text and its position; fewer if there are too many."""
    others = [(t, i) for t, reading in enumerate(traces) for i, token in enumerate(reading.tokens) if not token.special]
    others = [(t, i) for t, i in others if not any(t == place.text and i in place.positions for place in places)]
    return [others[i] for i in choose.thin_out(range(len(others)), len(traces[0].hidden[stack]), chosen)] if others else []
