"""The controls that decide how the next token is chosen; each is in the link."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from models.generation.strategy import Strategy
from pages.generate import state as page_state
from ui import state
from ui.choices.widgets import number, slider, switch, tabs
from ui.escaping import plain
from ui.look import Look
from ui.words import words

HERE = Path(__file__).parent
METHODS = {"Draw by dice": "sampling", "Always the likeliest": "greedy", "Beams": "beam"}
SIMPLE = ("Draw by dice", "Always the likeliest")  # what a beginner chooses among
SAMPLING, ALL, BEAM = ("sampling",), ("sampling", "greedy", "beam"), ("beam",)
WIDTH = 190  # pixels of a control
FOLDED = ("top-k", "top-p", "penalty", "seed")  # out of sight at the level "intermediate", until they are asked for


@dataclass(frozen=True)
class Control:
    """A control for a number. first: the first level that has it; methods: the methods that it belongs to."""

    label: str
    plain: str  # the label for beginners
    least: float
    most: float
    default: float
    by: float
    first: str
    methods: tuple[str, ...]
    help: str
    slides: bool = True


CONTROLS = {
    "temperature": Control(
        "Temperature",
        "Temperature",
        0.1,
        3.0,
        0.8,
        0.1,
        "beginner",
        SAMPLING,
        "Low: nearly always the likeliest. High: unlikely tokens get a chance.",
    ),
    "top-k": Control("Top-k (0: all)", "", 0, 1_000_000, 0, 1, "intermediate", SAMPLING, "Only the k likeliest stay.", False),
    "top-p": Control(
        "Top-p",
        "",
        0.05,
        1.0,
        1.0,
        0.05,
        "intermediate",
        SAMPLING,
        "The likeliest stay, as many as it takes to have this share of the probability together.",
    ),
    "min-p": Control(
        "Min-p",
        "",
        0.0,
        1.0,
        0.0,
        0.01,
        "expert",
        SAMPLING,
        "Only tokens with at least this share of the likeliest token’s probability stay.",
    ),
    "typical": Control(
        "Typical",
        "",
        0.05,
        1.0,
        1.0,
        0.05,
        "expert",
        SAMPLING,
        "The tokens whose surprise is nearest to the expected surprise stay, as many as it takes to have this share together.",
    ),
    "beams": Control("Beams", "", 1, 64, 4, 1, "intermediate", BEAM, "The search continues this many beginnings.", False),
    "length-penalty": Control(
        "Length penalty",
        "",
        -5.0,
        5.0,
        1.0,
        0.1,
        "expert",
        BEAM,
        "Answers are compared by their log-probability over their length to this power: higher prefers longer ones.",
        False,
    ),
    "penalty": Control(
        "Repetition penalty",
        "",
        1.0,
        2.0,
        1.0,
        0.05,
        "intermediate",
        ALL,
        "For tokens that were read or said, logits above 0 are divided by this, and those below 0 are multiplied by it.",
    ),
    "no-repeat": Control(
        "No run of so many again",
        "",
        0,
        20,
        0,
        1,
        "expert",
        ALL,
        "A token that would repeat a run of this many tokens is struck out (0: off).",
        False,
    ),
    "seed": Control(
        "Seed",
        "Number of the draw",
        0,
        1_000_000,
        0,
        1,
        "beginner",
        SAMPLING,
        "The same number gives the same draws, so that a whole class sees the same text.",
        False,
    ),
    "tokens": Control("Tokens at most", "", 1, 400, 40, 1, "intermediate", ALL, "One press says at most so many.", False),
}
FIELDS = {
    "temperature": "temperature",
    "top-k": "top_k",
    "top-p": "top_p",
    "min-p": "min_p",
    "typical": "typical",
    "beams": "beams",
    "length-penalty": "length_penalty",
    "penalty": "repetition_penalty",
    "no-repeat": "no_repeat",
    "seed": "seed",
}


def strategy(look: Look) -> tuple[Strategy, int]:
    """Place the controls, and return how the next token is chosen and how many tokens a run may have.

    A control that the level does not have keeps its default. A translation is not sampled unless somebody chooses that.
    """
    key = page_state.GENERATE_METHOD if look.model.info.kind == "decoder" else page_state.TRANSLATE_METHOD
    with st.container(key="generate-controls", horizontal=True, vertical_alignment="bottom", gap="small"):
        labels = [label for label in key.values if label in SIMPLE] if look.beginner else None
        method = METHODS[tabs(key, "the way of choosing", labels)]
        values = {}
        here = {name: control for name, control in CONTROLS.items() if _is_here(control, method)}
        folded = [name for name in FOLDED if name in here] if look.level == "intermediate" else []
        for name, control in here.items():
            if name not in folded:
                hidden = look.beginner and name == "seed"  # out of sight, but still in links and lessons
                with st.container(key=f"generate-hidden-{name}") if hidden else nullcontext():
                    values[name] = _place_control(name, control)
        if folded:
            with st.popover(_more_controls(folded), icon=":material/tune:", key="generate-more"):
                values |= {name: _place_control(name, here[name]) for name in folded}
    for name, control in CONTROLS.items():
        if state.LEVELS.index(control.first) > state.LEVELS.index(look.level):
            state.later(control.first, page_state.generate_key(name, control.default))
    fields: dict[str, Any] = {FIELDS[name]: value for name, value in values.items() if name in FIELDS}
    fields["top_k"] = fields.get("top_k") or None
    return Strategy(method, **fields), int(values.get("tokens", CONTROLS["tokens"].default))


def _more_controls(names: Sequence[str]) -> str:
    """Return the label of the controls that are out of sight, with how many of them are not at their default."""
    keys = [page_state.generate_key(name, CONTROLS[name].default) for name in names]
    values = [key.get() if key.is_set else key.in_address for key in keys]
    count = sum(value not in (None, key.default, str(key.default)) for value, key in zip(values, keys, strict=True))
    return words(HERE, "more controls on", count=count) if count else words(HERE, "more controls")


def _is_here(control: Control, method: str) -> bool:
    return method in control.methods and state.LEVELS.index(control.first) <= state.LEVELS.index(state.level())


def _place_control(name: str, control: Control) -> float:
    key = page_state.generate_key(name, control.default)
    label = control.plain if control.plain and state.level() == "beginner" else control.label
    options: dict[str, Any] = {"help": control.help, "width": WIDTH}
    if control.slides:
        value = slider(key, label, control.least, control.most, control.by, **options)
    else:
        value = number(key, label, control.least, control.most, control.default, control.by, **options)
    state.keep(key, value, control.default)
    return value


def chat(look: Look) -> bool:
    """Place the switch of a model that can chat, and return whether the text is read as a turn of a chat."""
    if not look.model.chats:
        return False
    on = switch(page_state.GENERATE_CHAT, words(HERE, "chat switch"), value=True, help=words(HERE, "chat help"))
    state.keep(page_state.GENERATE_CHAT, on, True)
    try:
        return on and bool(look.model.as_chat(look.trace.text))
    except ValueError as error:
        st.warning(f"{plain(str(error))} Meanwhile, your text is read as it is.", icon=":material/report:")
        return False


def draw_again() -> None:
    """Choose the next seed."""
    key = page_state.generate_key("seed", 0)
    key.set((key.get() + 1) % int(CONTROLS["seed"].most))
    state.run_whole_page_next()
