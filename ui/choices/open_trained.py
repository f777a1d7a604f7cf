"""Opens a model that was trained here on all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from models.errors import ModelError
from ui import state
from ui.choices import text_boxes
from ui.escaping import plain
from ui.memory import trainings

if TYPE_CHECKING:
    from models.adapting.teaching import Teaching
    from models.training.live import Training


def open_button(name: str, training: Training | Teaching, key: str, own_read: str, yours_read: str) -> None:
    """Place the button that opens a model as it is now; arguments as of `open_trained`."""
    if st.button(
        "Open on all pages",
        icon=":material/open_in_browser:",
        on_click=open_trained,
        args=(name, training, own_read, yours_read),
        key=key,
        type="primary",
    ):
        st.rerun()


def open_trained(name: str, training: Training | Teaching, own_read: str, yours_read: str) -> None:
    """Ask for a model as it is now, and write it; the callback of a button.

    name: of the training. own_read, yours_read: the notice where the model reads a text of its own, and where it reads the
    visitor's. The request comes first: a visitor who opens another page at once cuts a callback off where it next looks at the
    state, and writing a model takes a while.
    """
    model_name, (texts, *_) = trainings.model_name(name, training), trainings.facts_of(training)
    state.ask_for_model(model_name)
    state.DONE.set(own_read if text_boxes.offer(texts[0], model_name) else yours_read)
    try:
        written = trainings.write_model(name, training)
        if written.name != model_name:  # it has learned on since
            state.ask_for_model(written.name)
    except ModelError as error:
        state.CHOOSE.pop()
        state.DONE.pop()
        st.toast(plain(str(error)), icon=":material/report:")
