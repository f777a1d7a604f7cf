"""Estimates how long work will take, before it begins; long work waits for a click."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from ui import state

if TYPE_CHECKING:
    from models.info import ModelInfo

SPEED = 2e10  # multiplications and additions a second, on one quiet core


def seconds(info: ModelInfo, length: float, texts: float) -> float:
    """Estimate how many seconds a model needs to read so many texts of so many tokens."""
    inside = 12 * info.d_model**2 * (info.layers + info.decoder_layers)  # about what the layers multiply a token by
    return inside * length * texts / SPEED


def format_duration(time: float) -> str:
    for size, unit in ((3600, "hours"), (60, "minutes")):
        if time > 1.5 * size:
            return f"about {max(2, time / size):,.0f} {unit}"
    return f"about {time:.0f} seconds"


def offer(label: str, key: tuple) -> None:
    """Draw the button that begins a piece of work, known by its key."""
    if not state.BEGUN.is_set:
        state.BEGUN.set(set())
    st.button(label, icon=":material/play_arrow:", on_click=state.BEGUN.get().add, args=(key,))


def is_begun(key: tuple) -> bool:
    """Return whether somebody has clicked that button."""
    return key in (state.BEGUN.get() or ())
