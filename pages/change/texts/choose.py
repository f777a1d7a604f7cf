"""The choices of experiment "Two texts": the pieces, the direction, the measure, the place and the two answers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import streamlit as st

from analysis.patches import DIRECTIONS, PARTS, Patches
from models.language_model import LanguageModel
from pages.change import state as page_state
from pages.change.texts import pairs
from pages.change.texts.comparison import Comparison
from ui import state
from ui.choices import widgets
from ui.choices.word import token_of
from ui.escaping import plain
from ui.look import Look
from ui.words import words
from viz import percent
from viz.tokens import listed, named

HERE = Path(__file__).parents[1]
PIECES = dict(zip(page_state.TEXTS_PART.values, PARTS, strict=True))
INTO = dict(zip(page_state.TEXTS_INTO.values, DIRECTIONS, strict=True))
OFFERED = 8  # answers of each text in the menus
WIDE = 165  # pixels of a menu: two of them fit side by side on a telephone
MOST = "where they differ most"
CELL = re.compile(r"(\d{1,4})\.(\d{1,6})")


def ask(look: Look, other: Look) -> Comparison:
    """Place the controls, and return the comparison that they describe. Errors: ValueError where the model predicts nothing."""
    stacks = look.model.info.kind == "encoder-decoder"
    part = widgets.one_of(
        page_state.TEXTS_PART, page_state.TEXTS_PART.values, "the piece", label="What is put in", on_change=pairs.forget
    )
    state.keep(page_state.TEXTS_PART, part, page_state.TEXTS_PART.default)
    kind = "self"
    row = st.container(key="texts-how", horizontal=True, gap="small")
    with row:
        direction = menu(page_state.TEXTS_INTO, "the direction", "Put", page_state.TEXTS_INTO.values)
        measure = menu(page_state.TEXTS_MEASURE, "the measure", "Measured by", page_state.TEXTS_MEASURE.values)
        if stacks:
            fitting = page_state.TEXTS_KIND.values if part in ("attention", "heads") else page_state.TEXTS_KIND.values[:2]
            kind = menu(page_state.TEXTS_KIND, "the stack", "Where", fitting)
        position = place(look, other)
        answers = both_answers(look.model, Patches(look.model, look.trace, other.trace, kind=kind, position=position))
    return Comparison(look, other, PIECES[part], measure, INTO[direction], kind, position, answers)


def menu(key: state.Key, meaning: str, title: str, values: tuple[str, ...]) -> str:
    """Place a menu of the values of a key that fit here, and return the chosen one."""
    value = widgets.one_of(
        key,
        key.values,
        meaning,
        label=title,
        offered=values,
        menu=True,
        width=WIDE,
        help=words(HERE, f"texts help {meaning.removeprefix('the ')}") or None,
    )
    state.keep(key, value, key.default)
    return value


# ---------------------------------------------------------------- where is predicted


def places(look: Look) -> list[int]:
    """Return where an answer can be: after each token of an encoder-decoder's answer, at each mask, or at the end."""
    return list(range(len(look.trace.target))) if look.trace.target else look.model.places(look.trace)


def most_different(look: Look, other: Look, offered: list[int]) -> int:
    """Return the place where the probabilities of the two texts' predictions are furthest apart."""

    def distance(place: int) -> float:
        clean, corrupt = map(np.exp, Patches(look.model, look.trace, other.trace, position=place).logs.values())
        return float(np.abs(clean - corrupt).sum())

    return offered[0] if len(offered) == 1 else max(offered, key=distance)


def place(look: Look, other: Look) -> int:
    """Place a menu of the places of the answer, and return the chosen one. A link has the words of the menu."""
    offered = places(look)
    if len(offered) == 1:
        return offered[0]
    names = {
        f"{place}: after {listed(look.trace.read[place].text.strip())}" if look.trace.target else f"mask {at + 1}": place
        for at, place in enumerate(offered)
    }
    name = widgets.one_of(
        page_state.TEXTS_PLACE,
        (MOST, *names),
        "the place",
        label="Place of the answer",
        menu=True,
        width=WIDE,
        on_change=pairs.forget,
    )
    state.keep(page_state.TEXTS_PLACE, name, MOST)
    return names[name] if name in names else most_different(look, other, offered)


# ---------------------------------------------------------------- between which answers


def both_answers(model: LanguageModel, patches: Patches) -> tuple[int, int]:
    """Return the answer that may be restored, and its rival: the likeliest of each text, or any other token."""
    clean, corrupt = (np.argsort(-logs, kind="stable")[:OFFERED].tolist() for logs in patches.logs.values())
    token = pick(page_state.TEXTS_ANSWER, "Answer", model, patches, [*clean, *corrupt], None)
    usual = patches.answers(token)[1]
    return token, pick(page_state.TEXTS_AGAINST, "Rather than", model, patches, [usual, *corrupt, *clean], token)


def pick(key: state.Key, title: str, model: LanguageModel, patches: Patches, offered: list[int], itself: int | None) -> int:
    """Place a menu of tokens, of which the first is the default, that takes any typed token too, and return the choice; never
    `itself`. A link has its text, unless it is the default."""
    offered = [id for id in dict.fromkeys(offered) if id != itself]
    link_text = state.take_linked_value(key)
    stored = link_text if link_text is not None else key.get()
    stored_token = None if stored is None else token_of(model, stored, offered)
    if stored_token == itself:
        stored_token = None
    if link_text is not None and stored_token is None:
        state.complain(key, link_text, "the word")
    options = [*offered, *([] if stored_token is None or stored_token in offered else [stored_token])]
    menu_key = key.of(str(hash((itself, *offered))))
    if stored_token is not None and (link_text is not None or not menu_key.is_set):
        menu_key.set(stored_token)

    logs = patches.logs["clean" if itself is None else "corrupt"]  # the menu outlives the visitor, and must not hold the readings

    def format_option(option: int | str) -> str:
        if isinstance(option, str):
            return option
        return f"{listed(model.token_text(option))} ({percent(float(np.exp(logs[option])))})"

    chosen = st.selectbox(
        title,
        options,
        0,
        format_option,
        key=menu_key.name,
        accept_new_options=True,
        on_change=pairs.forget,
        width=WIDE,
        help=words(HERE, "texts help answer" if itself is None else "texts help against"),
    )
    token = token_of(model, chosen, offered) if isinstance(chosen, str) else chosen
    if token is None or token == itself:
        why = "is no single token of this model" if token is None else "cannot be held against itself"
        st.info(plain(f"“{chosen}” {why}, so “{named(model.token_text(offered[0]))}” is used instead."))
        token = offered[0]
    text = None if token == offered[0] else model.token_text(token).strip() or model.token_text(token)
    key.set(text)
    state.keep(key, text or state.linked_value(key), None)
    return token


# ---------------------------------------------------------------- which square


def cell(comparison: Comparison) -> tuple[int, int] | None:
    """Return the selected square; None without one, or with a notice where these texts do not have it."""
    rows, columns = comparison.patches.shape(comparison.part)

    def parse(text: str | None) -> tuple[int, int] | None:
        if not (numbers := CELL.fullmatch(text or "")):
            return None
        row, column = int(numbers[1]), int(numbers[2])
        fits = row < rows and column < columns and (comparison.part == "head" or column in comparison.patches.places)
        return (row, column) if fits else None

    if (link_text := state.take_linked_value(page_state.TEXTS_CELL)) is not None:
        if parse(link_text):
            page_state.TEXTS_CELL.set(link_text)
        else:
            state.complain(page_state.TEXTS_CELL, link_text, "the square")
    selected = page_state.TEXTS_CELL.get()
    if selected and not parse(selected):
        st.info("The chosen square does not exist for these texts. Choose another one.")
    state.keep(page_state.TEXTS_CELL, selected if parse(selected) else state.linked_value(page_state.TEXTS_CELL) or "", "")
    return parse(selected)
