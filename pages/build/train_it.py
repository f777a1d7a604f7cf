"""The button that brings the transformer of page "Build" to page "Train", where it learns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import streamlit as st

from models.scratch.config import TransformerConfig
from pages.build.choose import NAMES
from ui import state

SIZES = (
    "layers",
    "heads",
    "d_model",
)  # that page Train can choose at each level; the others at "Expert"
PARTS = (
    "d_ff",
    "kv_heads",
    "experts",
    "window",
    "positions",
    "norm",
    "norm_place",
    "feedforward",
    "initialisation",
    "score",
    "computed",
    "pattern",
    "tied",
    "qk_norm",
    "bias",
)
MOST = {"layers": 8, "heads": 16, "d_model": 512, "d_ff": 2048, "kv_heads": 16, "experts": 8, "window": 64}  # on page Train
ITS_OWN = ("kind", "vocabulary", "context")  # of page Train: a decoder that reads bytes
USUAL = TransformerConfig()


def place(config: TransformerConfig) -> None:
    """Place the button; where page Train cannot train this, it is greyed and says why."""
    why = refusal(config)
    st.button(
        "Train this",
        icon=":material/monitoring:",
        disabled=bool(why),
        help=why or explanation(config),
        key="build-train",
        on_click=open_train,
        args=(config,),
    )


def refusal(config: TransformerConfig) -> str:
    """Return why page Train cannot train a transformer; "" where it can try."""
    if config.kind != "decoder":
        return "On page Train a decoder learns what comes next. Choose the stacks “decoder”."
    large = [name for name, most in MOST.items() if name in taken() and getattr(config, name) > most]
    if large:
        return f"Page Train takes at most {MOST[large[0]]} for “{NAMES[large[0]]}”. Make it smaller."
    return ""


def explanation(config: TransformerConfig) -> str:
    """Return what the button does, and which choices it leaves behind."""
    left = [
        NAMES[name]
        for name, value in asdict(config).items()
        if name in NAMES and name not in (*SIZES, *PARTS, *ITS_OWN) and value != getattr(USUAL, name)
    ]
    if state.level() == "beginner":
        return "Opens page Train with these sizes. There it learns in front of you, from letters."
    left_out = f" It leaves behind: {', '.join(left)}." if left else ""
    return f"Opens page Train with these parts. There it reads bytes, up to 64 at a time.{left_out}"


def taken() -> tuple[str, ...]:
    """Return the names of what is brought along: what this level shows."""
    return SIZES if state.level() == "beginner" else (*SIZES, *PARTS)


def open_train(config: TransformerConfig) -> None:
    """Open page Train with these parts in the next run, at a level that shows them."""
    names = taken()
    link = {state.LEVEL.name: "expert" if set(names) & set(PARTS) else state.level()}
    state.LESSON_NEXT.set(("train", link | {f"train-{name}": written(getattr(config, name)) for name in names}))


def written(value: Any) -> str:
    """Write a value as an address has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
