"""Folds: the small stages, at intermediate, and the numbers of an open stage, which a beginner sees one by one only after a click
or where a link names a number."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.inside import choose
from pages.inside import state as page_state
from pages.inside.opened import OpenStage
from pages.inside.spots import Selection
from ui import state
from ui.look import Look

LABELS = {
    "feed-forward": "the neurons, and every number",
    "weights": "every share, and where it comes from",
    "cross weights": "every share, and where it comes from",
    "ids": "where the number comes from",
}


def is_unfolded(chosen: Selection) -> bool:
    """Return whether the numbers are shown: one of them is chosen, or a neuron of the feed-forward."""
    has_neuron = chosen.stage == "feed-forward" and bool(state.linked_value(page_state.NEURON) or page_state.NEURON.get())
    return chosen.index is not None or has_neuron


def button(here: OpenStage, is_unfolded: bool) -> None:
    """Draw the button that shows or hides the numbers of a stage."""
    what = LABELS.get(here.stage.name, "every number, and where it comes from")
    place(f"{'Hide' if is_unfolded else 'Show'} {what}", is_unfolded, close if is_unfolded else partial(unfold, here))


def next_button(stop: tuple[str, str]) -> None:
    """Draw the button that opens the next stage. stop: its key and its name."""
    key, name = stop
    with st.container(key="inside-way-on"):
        st.button(f"Next: {name}", key="inside-next", icon=":material/arrow_downward:", on_click=partial(choose.toggle, key))


def shows_neurons(look: Look) -> bool:
    """Return whether the neurons of an open feed-forward are shown; at intermediate only after a click or where one is chosen."""
    is_chosen = bool(state.linked_value(page_state.NEURON) or page_state.NEURON.get())
    return look.level != "intermediate" or is_chosen or page_state.NEURONS_UNFOLDED.get()


def neurons_button(is_unfolded: bool) -> None:
    """Draw the button that shows or hides the neurons."""
    what = "the neurons that fire most, and what they push towards"
    place(f"{'Hide' if is_unfolded else 'Show'} {what}", is_unfolded, fold_neurons if is_unfolded else unfold_neurons)


def unfold_neurons() -> None:
    """Show the neurons."""
    page_state.NEURONS_UNFOLDED.set(True)


def fold_neurons() -> None:
    """Hide the neurons, and forget which was chosen."""
    page_state.NEURONS_UNFOLDED.set(False)
    state.take_linked_value(page_state.NEURON)
    page_state.NEURON.set(None)


def stages_button(count: int) -> None:
    """Draw the button that shows or hides the small stages. count: how many they are."""
    is_unfolded = page_state.EVERY_STAGE.get()
    label = f"Show the {count} small steps too" if not is_unfolded else "Hide the small steps"
    place(label, is_unfolded, partial(page_state.EVERY_STAGE.set, not is_unfolded), "inside-every-fold")


def place(label: str, is_unfolded: bool, clicked: Callable[[], None], key: str = "inside-fold") -> None:
    """Draw the button of a fold."""
    icon = ":material/expand_less:" if is_unfolded else ":material/expand_more:"
    st.button(label, key=key, icon=icon, on_click=clicked)


def unfold(here: OpenStage) -> None:
    """Show the numbers, and explain the one that the stage opens with."""
    choose.look_at(here.stage.name, here.index)


def close() -> None:
    """Hide the numbers of the open stage."""
    choose.look_at(page_state.STAGE.get(), ())
    state.take_linked_value(page_state.NEURON)
    page_state.NEURON.set(None)
