"""The choices of “Steer”: a direction, its strength, its layer, and how the text is continued."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import streamlit as st

from pages.change import state as page_state
from pages.change.boards.steering import MOST
from pages.change.steer.push import Push
from pages.change.steer.ready import OWN, own_pairs, ready_for
from ui import state
from ui.choices import text_boxes
from ui.choices.widgets import one_of
from ui.look import Look
from ui.state import Key
from ui.words import say, words

METHODS = {"Always the likeliest": "greedy", "Draw by dice": "sampling"}


def ask_push(folder: Path, look: Look) -> Push:
    """Place the controls, and return the push that they describe. Errors: ValueError, a sentence, if the typed texts are no
    pairs."""
    kind = look.model.info.kind
    ready = ready_for(kind)
    names = (*ready, OWN) if not look.beginner else tuple(ready)
    with st.container(horizontal=True, gap="medium", key="steer-choices", vertical_alignment="bottom"):
        name = one_of(page_state.STEER, names, "the direction", on_change=partial(take_text_along, look.trace.text, kind))
        state.keep(page_state.STEER, name, names[0])
        method, seed = ask_method(look)
        first = ready.get(name, next(iter(ready.values())))
        is_other = offer_text(look, first.text if name in ready else "")
    if is_other:
        say(folder, "other text")
    last = len(look.trace.hidden["encoder" if look.trace.target else "self"]) - 1
    middle = (last + 1) // 2 if first.layer is None else first.layer
    strength = number(page_state.STEER_STRENGTH, -MOST, MOST, first.strength, "“Strength” at")
    layer = middle
    if look.beginner:
        state.later("intermediate", page_state.STEER_LAYER, page_state.STEER_METHOD)
    else:
        layer = int(number(page_state.STEER_LAYER, 0, last, middle, "the place of the stream"))
    pairs = ready[name].pairs if name in ready else ask_pairs(folder)
    return Push(name, pairs, layer, strength, method, seed)


def take_text_along(text: str, kind: str) -> None:
    """Put the text of a chosen direction into the box above, with its own strength and layer, where the text of another one
    stands: a visitor's own text stays. text: what stands there; kind: of the model. (Streamlit keeps what this gets, so it gets
    no reading.)"""
    ready = ready_for(kind)
    chosen = ready.get(page_state.STEER.get() or "")
    is_ready = text in [direction.text for direction in ready.values()]
    if chosen and chosen.text and is_ready and kind == "decoder":
        take(chosen.text)
        for key in (page_state.STEER_STRENGTH, page_state.STEER_LAYER):
            key.set(None)


def take(text: str) -> None:
    """Put a text into the box above."""
    state.TEXT.of("next").set(text)
    state.run_whole_page_next()


def offer_text(look: Look, text: str) -> bool:
    """Place a button that puts a text into the box above whose first guess this direction changes; return whether it is there."""
    if text and look.model.info.kind == "decoder" and look.trace.text != text:
        st.button(f"Try it with “{text} …”", icon=":material/edit_note:", key="steer-text", on_click=partial(take, text))
        return True
    return False


def ask_pairs(folder: Path) -> tuple[tuple[str, str], ...]:
    """Place two boxes, and return the pairs that are typed into them."""
    left, right = st.columns(2)
    with left:
        with_it = text_boxes.one_line(
            page_state.STEER_WITH, words(folder, "with it"), "The dog barks. / A wolf howled.", labelled=True
        )
    with right:
        without = text_boxes.one_line(
            page_state.STEER_WITHOUT, words(folder, "without"), "The cat sleeps. / A cow grazed.", labelled=True
        )
    return own_pairs(with_it, without)


def ask_method(look: Look) -> tuple[str, int]:
    """Place the menu of methods, and return how the next token is chosen and the seed."""
    seed = int(number(page_state.STEER_SEED, 0, 1_000_000, 0, "the number of the draw"))
    if look.beginner or look.model.info.kind == "encoder":
        return "greedy", seed
    name = one_of(page_state.STEER_METHOD, tuple(METHODS), "the way to write", label="How it writes")
    state.keep(page_state.STEER_METHOD, name, next(iter(METHODS)))
    if METHODS[name] == "sampling":
        st.button("Draw again", icon=":material/casino:", key="steer-draw", on_click=lambda: page_state.STEER_SEED.set(seed + 1))
    return METHODS[name], seed


def number(key: Key, least: float, most: float, default: float, meaning: str) -> float:
    """Return the number of a slider of the board, within the limits of this model. A notice reports an invalid one in a link."""
    if (link_text := state.take_linked_value(key)) is not None:
        try:
            value = float(link_text)
        except ValueError:
            value = float("nan")
        if least <= value <= most:
            key.set(value)
        else:
            state.complain(key, link_text, meaning)
    choice = key.get()
    value = default if choice is None else min(max(float(choice), least), most)
    state.keep(key, None if choice is None else value, key.default)
    return value


def turn(number: int, value: float) -> None:
    (page_state.STEER_STRENGTH, page_state.STEER_LAYER)[number].set(value)
