"""What is chosen of two texts: which pieces, put where, measured how, at which place and between which answers."""

from __future__ import annotations

import re

import numpy as np
import streamlit as st

from analysis.patches import Patches
from models.language_model import LanguageModel
from pages.change.texts import pairs
from pages.change.texts.asked import HERE, INTO, PIECES, Asked
from ui import state
from ui.choices import widgets
from ui.choices.word import token_of
from ui.look import Look
from ui.text import plain
from ui.words import words
from viz import percent
from viz.tokens import label, named

OFFERED = 8  # answers of each text, to choose from
WIDE = 165  # pixels of a menu: two of them fit side by side on a telephone
CHOSEN = (state.TEXTS_PART, state.TEXTS_MEASURE, state.TEXTS_INTO, state.TEXTS_KIND, state.TEXTS_PLACE)
MOST = "where they differ most"
CELL = re.compile(r"(\d{1,4})\.(\d{1,6})")


def ask(look: Look, other: Look) -> Asked:
    """What is asked of two texts. Errors: ValueError where the model predicts nothing there."""
    part, measure, into, kind, _ = (key.default for key in CHOSEN)
    stacks = look.model.info.kind == "encoder-decoder"
    if look.beginner:
        state.later("intermediate", *CHOSEN, state.TEXTS_ANSWER, state.TEXTS_AGAINST)
        position = most_different(look, other, places(look))
    else:
        part = widgets.one_of(
            state.TEXTS_PART, state.TEXTS_PART.values, "the piece", label="What is put in", on_change=pairs.forget
        )
        state.keep(state.TEXTS_PART, part, state.TEXTS_PART.default)
        row = st.container(key="texts-how", horizontal=True, gap="small")
        with row:
            into = menu(state.TEXTS_INTO, "the direction", "Put", state.TEXTS_INTO.values)
            measure = menu(state.TEXTS_MEASURE, "the measure", "Measured by", state.TEXTS_MEASURE.values)
            if stacks:
                fitting = state.TEXTS_KIND.values if part in ("attention", "heads") else state.TEXTS_KIND.values[:2]
                kind = menu(state.TEXTS_KIND, "the stack", "Where", fitting)
            position = place(look, other)
    kind = kind if stacks else "self"
    patches = Patches(look.model, look.trace, other.trace, kind=kind, position=position)
    if look.beginner:
        return Asked(look, other, PIECES[part], measure, INTO[into], kind, position, patches.answers())
    with row:
        answers = both_answers(look.model, patches)
    return Asked(look, other, PIECES[part], measure, INTO[into], kind, position, answers)


def menu(key: state.Key, meaning: str, title: str, values: tuple[str, ...]) -> str:
    """One of the values of a key that fit here."""
    chosen = widgets.one_of(
        key, key.values, meaning, label=title, offered=values, menu=True, width=WIDE,
        help=words(HERE, f"texts help {meaning.removeprefix('the ')}") or None,
    )  # fmt: skip
    state.keep(key, chosen, key.default)
    return chosen


# ---------------------------------------------------------------- where is predicted


def places(look: Look) -> list[int]:
    """Where an answer can be asked for: after each token of what an encoder-decoder has said, at each mask, or at the end."""
    return list(range(len(look.trace.target))) if look.trace.target else look.model.places(look.trace)


def most_different(look: Look, other: Look, offered: list[int]) -> int:
    """Of some places the one where the two texts' predictions are furthest apart, by their probabilities."""

    def apart(place: int) -> float:
        clean, corrupt = map(np.exp, Patches(look.model, look.trace, other.trace, position=place).logs.values())
        return float(np.abs(clean - corrupt).sum())

    return offered[0] if len(offered) == 1 else max(offered, key=apart)


def place(look: Look, other: Look) -> int:
    """Where the answer is asked for; a link says it in the words of the menu."""
    offered = places(look)
    if len(offered) == 1:
        return offered[0]
    names = {
        f"{place}: after {named(look.trace.read[place].text)}" if look.trace.target else f"mask {at + 1}": place
        for at, place in enumerate(offered)
    }
    chosen = widgets.one_of(
        state.TEXTS_PLACE, (MOST, *names), "the place", label="Place of the answer", menu=True, width=WIDE, on_change=pairs.forget
    )
    state.keep(state.TEXTS_PLACE, chosen, MOST)
    return names[chosen] if chosen in names else most_different(look, other, offered)


# ---------------------------------------------------------------- between which answers


def both_answers(model: LanguageModel, patches: Patches) -> tuple[int, int]:
    """The answer that may come back, and the one that it is held against: the likeliest of each text, or any other token."""
    clean, corrupt = (np.argsort(-logs, kind="stable")[:OFFERED].tolist() for logs in patches.logs.values())
    token = pick(state.TEXTS_ANSWER, "Answer", model, patches, [*clean, *corrupt], None)
    usual = patches.answers(token)[1]
    return token, pick(state.TEXTS_AGAINST, "Rather than", model, patches, [usual, *corrupt, *clean], token)


def pick(key: state.Key, title: str, model: LanguageModel, patches: Patches, offered: list[int], itself: int | None) -> int:
    """One of some tokens, of which the first is the default, or another that is typed; never `itself`. A link names it by its
    text, and says nothing of the default."""
    offered = [id for id in dict.fromkeys(offered) if id != itself]
    asked = state.once(key)
    wanted = asked if asked is not None else key.get()
    found = None if wanted is None else token_of(model, wanted, offered)
    if found == itself:
        found = None
    if asked is not None and found is None:
        state.complain(key, asked, "the word")
    options = [*offered, *([] if found is None or found in offered else [found])]
    here = key.of(str(hash((itself, *offered))))
    if found is not None and (asked is not None or not here.held):
        here.set(found)

    def written(option: int | str) -> str:
        if isinstance(option, str):
            return option
        logs = patches.logs["clean" if itself is None else "corrupt"]
        return f"{label(model.token_text(option))} ({percent(float(np.exp(logs[option])))})"

    chosen = st.selectbox(
        title, options, 0, written, key=here.name, accept_new_options=True, on_change=pairs.forget, width=WIDE,
        help=words(HERE, "texts help answer" if itself is None else "texts help against"),
    )  # fmt: skip
    token = token_of(model, chosen, offered) if isinstance(chosen, str) else chosen
    if token is None or token == itself:
        why = "is no single token of this model" if token is None else "cannot be held against itself"
        st.info(plain(f"“{chosen}” {why}, so “{named(model.token_text(offered[0]))}” is taken."))
        token = offered[0]
    text = None if token == offered[0] else model.token_text(token).strip() or model.token_text(token)
    key.set(text)
    state.keep(key, text or state.waits(key), None)
    return token


# ---------------------------------------------------------------- which square


def cell(asked: Asked) -> tuple[int, int] | None:
    """The square that is chosen; None where none is, or where it is not there in these texts, which is said."""
    rows, columns = asked.patches.shape(asked.part)

    def read(text: str | None) -> tuple[int, int] | None:
        if not (numbers := CELL.fullmatch(text or "")):
            return None
        row, column = int(numbers[1]), int(numbers[2])
        fits = row < rows and column < columns and (asked.part == "head" or column in asked.patches.places)
        return (row, column) if fits else None

    if (wanted := state.once(state.TEXTS_CELL)) is not None:
        if read(wanted):
            state.TEXTS_CELL.set(wanted)
        else:
            state.complain(state.TEXTS_CELL, wanted, "the square")
    kept = state.TEXTS_CELL.get()
    if kept and not read(kept):
        st.info("The square that was chosen is not there in these texts. Press another one.")
    state.keep(state.TEXTS_CELL, kept if read(kept) else state.waits(state.TEXTS_CELL) or "", "")
    return read(kept)


def tried(asked: Asked, cell: tuple[int, int] | None, everything: bool) -> list[tuple[int, int]] | None:
    """The squares whose number a beginner sees: those that were pressed; None for all."""
    if everything or not asked.look.beginner:
        return None
    before = state.TEXTS_TRIED.get()
    cells = before[1] if before and before[0] == asked.key else []
    cells = list(dict.fromkeys([*cells, *([] if cell is None else [cell])]))
    state.TEXTS_TRIED.set((asked.key, cells))
    return cells
