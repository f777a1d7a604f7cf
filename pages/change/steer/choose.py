"""What is chosen of “Steer”: a direction, how far, at which place, and how the text goes on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from pages.change.steer.ready import OWN, own_pairs, ready_for
from ui import state
from ui.choices import boxes
from ui.choices.widgets import one_of
from ui.look import Look
from ui.state import Key
from ui.words import words
from viz import Part
from viz.views.dials import Dial, dials

METHODS = {"Always the likeliest": "greedy", "Draw by dice": "sampling"}
MOST = 8.0  # times the direction


@dataclass(frozen=True)
class Push:
    """name: of the direction; pairs: what it is made of; layer: as of a stream; method, seed: how the text goes on."""

    name: str
    pairs: tuple[tuple[str, str], ...]
    layer: int
    strength: float
    method: str
    seed: int


def chosen(folder: Path, look: Look) -> Push:
    """All that is chosen, with what chooses it. Errors: ValueError, a sentence, for pairs of one's own that are none."""
    ready = ready_for(look.model.info.kind)
    names = (*ready, OWN) if not look.beginner else tuple(ready)
    with st.container(horizontal=True, gap="medium", key="steer-choices", vertical_alignment="bottom"):
        name = one_of(state.STEER, names, "the direction")
        state.keep(state.STEER, name, names[0])
        method, seed = how(look)
    last = len(look.trace.hidden["encoder" if look.trace.target else "self"]) - 1
    first = ready.get(name, next(iter(ready.values())))
    middle = (last + 1) // 2 if first.layer is None else first.layer
    strength = number(state.STEER_STRENGTH, -MOST, MOST, first.strength, "“Strength” at")
    layer = middle
    if look.beginner:
        state.later("intermediate", state.STEER_LAYER, state.STEER_METHOD)
    else:
        layer = int(number(state.STEER_LAYER, 0, last, middle, "the place of the stream"))
    pairs = ready[name].pairs if name in ready else own(folder)
    return Push(name, pairs, layer, strength, method, seed)


def own(folder: Path) -> tuple[tuple[str, str], ...]:
    """Pairs that are typed."""
    left, right = st.columns(2)
    with left:
        with_it = boxes.one_line(state.STEER_WITH, words(folder, "with it"), "The dog barks. / A wolf howled.", labelled=True)
    with right:
        without = boxes.one_line(state.STEER_WITHOUT, words(folder, "without"), "The cat sleeps. / A cow grazed.", labelled=True)
    return own_pairs(with_it, without)


def how(look: Look) -> tuple[str, int]:
    """How the next token is chosen, and the number of the draw."""
    seed = int(number(state.STEER_SEED, 0, 1_000_000, 0, "the number of the draw"))
    if look.beginner or look.model.info.kind == "encoder":
        return "greedy", seed
    name = one_of(state.STEER_METHOD, tuple(METHODS), "the way to write", label="How it writes")
    state.keep(state.STEER_METHOD, name, next(iter(METHODS)))
    if METHODS[name] == "sampling":
        st.button("Draw again", icon=":material/casino:", key="steer-draw", on_click=lambda: state.STEER_SEED.set(seed + 1))
    return METHODS[name], seed


def number(key: Key, least: float, most: float, default: float, meaning: str) -> float:
    """A number that a slider of the board chooses; what a link asks for in vain is told of. A text through another model may
    allow less."""
    if (asked := state.once(key)) is not None:
        try:
            value = float(asked)
        except ValueError:
            value = float("nan")
        if least <= value <= most:
            key.set(value)
        else:
            state.complain(key, asked, meaning)
    held = key.get()
    value = default if held is None else min(max(float(held), least), most)
    state.keep(key, None if held is None else value, key.default)
    return value


def sliders(folder: Path, look: Look, push: Push) -> Part:
    """How strongly, and at which place."""
    last = len(look.trace.hidden["encoder" if look.trace.target else "self"]) - 1
    each = [Dial(words(folder, "strength", name=push.name), push.strength, -MOST, MOST, 0.5)]
    if not look.beginner:
        each.append(Dial(words(folder, "place"), push.layer, 0, last, 1))
    return Part("dials", dials(each))


def turn(number: int, value: float) -> None:
    (state.STEER_STRENGTH, state.STEER_LAYER)[number].set(value)
