"""Page "Type": the tokens of a text, what the model predicts, and where a head looks, at every keystroke."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from analysis import surprise
from pages.type import answer, head_parts, recipes, welcome
from pages.type.clicks import react
from pages.type.predicted import earlier, predictions
from ui import shell, state
from ui.choices import heads, picker, scope
from ui.choices.widgets import slider
from ui.lexicon.marks import mark_head
from ui.look import Look
from ui.picture.picture import Numbers, Picture
from ui.picture.take_away import take_away
from ui.show import part, show
from ui.words import words
from viz import Card, Part, board

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.tokens import Token
    from models.trace import Trace

HERE = Path(__file__).parent
BARS = {"beginner": 5, "intermediate": 8, "expert": 10}


def controls() -> tuple[float, int]:
    """Draw temperature and number of bars in the side bar, at the levels that have them, and return both."""
    temperature, bars = 1.0, BARS[state.level()]
    with st.sidebar:
        if state.level() == "beginner":
            state.later("intermediate", state.TEMPERATURE)
        else:
            temperature = slider(state.TEMPERATURE, "Temperature", 0.1, 3.0, 0.1)
        if state.level() != "expert":
            state.later("expert", state.BAR_COUNT)
        else:
            bars = int(slider(state.BAR_COUNT, "Predictions", 5, 50, 1))
    return temperature, bars


def chips(name: str, look: Look, tokens: list[Token], chosen: int | None, pictures: list[Picture]) -> Part:
    """Return the part with the tokens; below them how surprising each was, for a model that reads from left to right. pictures:
    those on the board, to which its picture is added."""
    model, trace, level, seen = look.model, look.trace, look.level, look.select(tokens)
    left_to_right = trace.unembed is not None and model.info.kind != "encoder" and tokens is trace.read
    options = {
        "target": name == "target", "special": look.options.get("special", True), "simple": look.beginner,
        "chosen": seen.index(chosen), "ids": level != "beginner", "positions": level == "expert",
        "surprising": level == "expert" and left_to_right, "link": "" if trace.target else "text",
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        texts = {"token": [token.text for token in seen.tokens]}
        of_token = {"id": Numbers(np.array([token.id for token in seen.tokens]), ("token",), texts)}
        bits = {"surprise_bits": Numbers(surprise(trace)[seen.places], ("token",), texts)} if options["surprising"] else {}
        return of_token | bits

    drawing = Picture(
        recipes.chips, (look,), options, "board", numbers, title="Target tokens" if name == "target" else "Tokens", part=name,
        takes=("trace",),
    )  # fmt: skip
    pictures.append(drawing)
    above = "cover" if model.info.mask and trace.unembed else ""
    if trace.target:
        above = {"chips": "source", "target": "read again" if model.info.labels else "target"}[name]
    explained = name == "target" and any(token.fragment for token in trace.tokens)  # above, below the source
    notes = ["fragments"] * (not explained and any(token.fragment for token in tokens))
    notes += ["space at the end"] * (tokens is trace.read and waits_for_a_word(model, trace))
    return drawing.on_board(words(HERE, above, mask=model.info.mask), "\n\n".join(words(HERE, section) for section in notes))


def waits_for_a_word(model: LanguageModel, trace: Trace) -> bool:
    """Return whether the text ends in a space that this model's words would bring with them."""
    if model.info.kind == "encoder" or trace.unembed is None or not trace.read or trace.read[-1].text != " ":
        return False
    return any(token.text.startswith(" ") and token.text.strip() for token in model.tokenize("a b"))


def draw(look: Look) -> None:
    scope.say_apart(look)
    answer.place(look)
    trace, queries = look.trace, look.attention.queries
    marked = look.token + look.attention.chooses
    texts = [("chips", trace.tokens), ("target", trace.target)] if trace.target else [("chips", trace.tokens)]
    pictures: list[Picture] = []
    tokens = [
        part("The tokens", chips, name, look, tokens, marked if tokens == queries else None, pictures) for name, tokens in texts
    ]
    cards = [
        Card(tokens),
        Card(
            predictions(look, earlier(look), *settings, pictures),
            words(HERE, f"title {look.model.info.kind if trace.unembed else look.without_words}"),
            5,
        ),
        Card(
            [
                part("Where it looks", head_parts.where_it_looks, HERE, look, pictures),
                part("The heads", head_parts.all_heads, HERE, look, pictures),
            ],
            f"Where it looks through {mark_head(look.head_name)}" if not look.beginner else "Where it looks",
            6,
        ),
    ]
    show(board(cards, "Tokens, predictions and attention"), "board", chosen=lambda: react(look))
    take_away("board", lambda: pictures)


heads.side_bar(picker.in_use())
scope.side_bar()
settings = controls()
shell.live(HERE, draw, beneath=welcome.offer)
