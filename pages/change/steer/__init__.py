"""Experiment "Steer": what the model writes and predicts while a direction between two kinds of texts is added to its stream."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from analysis.steering import direction, moves, stream_length
from analysis.steering import push as pushed
from models.language_model import LanguageModel, softmax
from pages.change import figures
from pages.change.steer import choose, recipes
from pages.change.steer.choose import Push
from ui import state
from ui.look import Look
from ui.memory import jobs, loaded
from ui.parts import part
from ui.picture.picture import Numbers, Picture
from ui.show import choice, picture, show
from ui.words import paragraph, words
from viz import Card, Part, board, percent
from viz.numbers import decimal, in_hundred, under
from viz.tokens import named

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

HERE = Path(__file__).parent
TOKENS = {"beginner": 14, "intermediate": 24, "expert": 24}  # how many it writes
BARS = {"beginner": 4, "intermediate": 6, "expert": 8}
DIRECTIONS = 32  # directions of a model that are remembered
NAMES = ("as it is", "with the push", "with a random push of that length")


def panel(look: Look, above: DeltaGenerator) -> list[Picture]:
    look, pictures = without_own_answer(replace(look, options={})), list[Picture]()
    try:
        push = choose.ask_push(HERE, look)
        added = recipes.with_random(push.strength * direction_of(look, push))
    except ValueError as sentence:  # the pairs are no pairs
        st.info(str(sentence))
        return pictures
    position = figures.predicted_position(look) if look.trace.unembed else None  # a text with labels alone cannot go on
    pieces = None
    if position is not None:
        with picture("The text"):
            pieces = write(look, push, added)
    bars = part("The prediction", prediction, look, push, added, position, pictures)
    cards = [
        Card([part("The sliders", choose.sliders, HERE, look, push), lengths(look, push, added)]),
        Card([part("The text", text_part, look, push, pieces, position, pictures)], words(HERE, "title text"), 6),
        Card([bars], words(HERE, "title bars"), 5),
        Card([Part("warning", None, words(HERE, "warning"))]),
    ]
    show(board(cards, "The model, pushed and as it is"), "steering", chosen=react)
    return pictures


_directions: WeakKeyDictionary[LanguageModel, dict[Any, np.ndarray]] = WeakKeyDictionary()


def direction_of(look: Look, push: Push) -> np.ndarray:
    """Return the direction, calculated once for each state of a model: every key press and every move of the slider needs it."""
    directions = _directions.setdefault(look.model, {})
    key = push.pairs, push.layer, look.model.condition
    if key not in directions:
        if len(directions) >= DIRECTIONS:
            directions.clear()
        directions[key] = direction(look.model, push.pairs, push.layer)
    return directions[key]


def without_own_answer(look: Look) -> Look:
    """Return the look without an answer that the model gave by itself: here it answers again."""
    if not look.second or look.second != state.SAID.get():
        return look
    return replace(look, trace=loaded.read(look.model.info.name, look.trace.text), second="")


def react() -> None:
    match choice("steering"):
        case {"part": "dials", "value": [number, value]}:
            choose.turn(number, value)


def write(look: Look, push: Push, added: np.ndarray) -> list[list[str]] | None:
    """Return what the model writes without and with the push; None while it writes."""
    key = ("steer", look.model.info.name, look.trace.text, look.second, push, look.level)
    strategy = recipes.strategy_of(push.method, push.seed)

    def work(report: jobs.Report) -> list[list[str]]:
        return recipes.write(look.model, look.trace, added[:3], push.layer, look.second, strategy, TOKENS[look.level], report)

    return jobs.result(key, work, "Writing without and with the direction")


def options_of(push: Push) -> dict[str, Any]:
    """Return the options that all recipes take."""
    return {"pairs": [list(pair) for pair in push.pairs], "layer": push.layer, "strength": push.strength}


def lengths(look: Look, push: Push, added: np.ndarray) -> Part:
    """Return a sentence on the lengths of the direction and the push, compared with the stream."""
    length = float(np.linalg.norm(added[1]))
    stream = stream_length(look.trace, push.layer, recipes.stack(look.model))
    facts = {"push": decimal(length), "stream": decimal(stream), "share": percent(length / stream), "pairs": len(push.pairs)}
    facts |= {"one": decimal(length / abs(push.strength)) if push.strength else "0", "layer": push.layer, "name": push.name}
    numbers = look.trace.attention[recipes.stack(look.model)].numbers
    facts["where"] = f"after L{numbers[push.layer - 1]}" if push.layer else "after the embedding"
    return Part("lengths", None, words(HERE, "lengths" if push.strength else "no push", **facts))


def text_part(look: Look, push: Push, pieces: list[list[str]] | None, position: int | None, pictures: list[Picture]) -> Part:
    """Return the text in three versions."""
    if position is None or pieces is None:
        return Part("texts", None, words(HERE, "nothing written" if position is None else "writing"))
    options = options_of(push) | {
        "second": look.second, "names": list(NAMES), "method": push.method, "seed": push.seed, "most": TOKENS[look.level]
    }  # fmt: skip

    def numbers() -> dict[str, Numbers]:
        added = recipes.with_random(push.strength * direction_of(look, push))[:3]
        return {"added": Numbers(added, ("version", "dimension"), {"version": NAMES})}

    drawing = Picture(
        recipes.texts, (look,), options, "steering", numbers, words=push.name, title="The text without and with a direction",
        part="texts", takes=("model", "trace"), known={"pieces": pieces},
    )  # fmt: skip
    pictures.append(drawing)
    fills_masks = look.model.info.kind == "encoder"
    return drawing.on_board("", words(HERE, "filled" if fills_masks else push.method))


def prediction(look: Look, push: Push, added: np.ndarray, position: int | None, pictures: list[Picture]) -> Part:
    """Return the likeliest tokens without and with the push, and whether random directions move the prediction as far."""
    if position is None:
        return Part("bars", None, words(HERE, "no prediction"))
    logits = pushed(look.model, look.trace, added, push.layer, position)
    options = options_of(push) | {"position": position, "count": BARS[look.level], "simple": look.beginner}
    shares = [softmax(scores) for scores in logits]

    def numbers() -> dict[str, Numbers]:
        ids = recipes.candidates(logits, BARS[look.level])
        names = {"token": [look.model.token_text(id) for id in ids]}
        arrays = {"before": shares[0], "after": shares[1], "random": shares[2]}
        return {name: Numbers(values[ids], ("token",), names) for name, values in arrays.items()}

    drawing = Picture(
        recipes.bars, (look,), options, "steering", numbers, words=push.name, title="The prediction without and with a direction",
        part="bars", takes=("model", "trace"), known={"logits": logits},
    )  # fmt: skip
    pictures.append(drawing)
    first, now = (int(scores.argmax()) for scores in logits[:2])
    moved, chance = moves(logits), in_hundred if look.beginner else percent  # as beside the bars
    push_move, rival, nats = moved.push, moved.strongest, [move.nats for move in moved.random]
    facts = {
        "token": token_name(look, first), "before": chance(float(shares[0][first])), "after": chance(float(shares[1][first])),
        "now": token_name(look, now), "nats": under(push_move.nats), "least": under(min(nats)), "most": under(max(nats)),
        "risen": token_name(look, push_move.token), "risen_before": chance(push_move.before),
        "risen_after": chance(push_move.after), "count": len(nats), "rival": token_name(look, rival.token),
        "rival_before": chance(rival.before),
        "rival_after": chance(rival.after), "rise_rank": moved.rise_rank, "nats_rank": moved.nats_rank, "all": len(nats) + 1,
    }  # fmt: skip
    headings = ["prediction plain"] if not push.strength else [*["now"] * (first != now), "prediction", moved.verdict]
    return drawing.on_board(paragraph(HERE, *headings, **facts))


def token_name(look: Look, id: int) -> str:
    return named(look.outcome(id)).replace("*", r"\*")
