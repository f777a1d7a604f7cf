"""The strength of an adapter: a slider in the side bar while a model with one is in use."""

from __future__ import annotations

import streamlit as st

from models.adapting.strength import strength_of, with_strength
from models.catalog import adapter_folder
from ui import state
from ui.choices import picker
from ui.memory import trainings


def is_adapted(name: str) -> bool:
    """Return whether a name is that of a model with an adapter: taught here, or opened from a folder."""
    return bool((trained := trainings.find(name)) and trained.base) or adapter_folder(name) is not None


def base_in_use() -> str:
    """Return the name of the model in use, or of the one that was adapted where it has an adapter."""
    name = picker.in_use()
    if (trained := trainings.find(name)) and trained.base:
        return trained.base
    if (folder := adapter_folder(name)) is not None:
        from models.adapting.folder import base_of

        return base_of(folder)
    return name


def side_bar(fixed: bool = False) -> None:
    """Place the slider. fixed: whether somebody else chooses the model."""
    name = picker.in_use()
    if not is_adapted(name):
        return
    state.STRENGTH.set(round(100 * strength_of(name)))
    st.slider(
        "Strength of what was taught",
        0,
        100,
        step=10,
        format="%d %%",
        key=state.STRENGTH.name,
        on_change=choose,
        args=(name,),
        disabled=fixed,
        help="0 %: the model as it was. 100 %: all of the change. Predictions and heads follow on every page.",
    )


def choose(name: str) -> None:
    """Ask for the model at the strength of the slider."""
    state.ask_for_model(with_strength(name, state.STRENGTH.get() / 100))
