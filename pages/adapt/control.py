"""Controls of an adaptation: start, pause, stop, reset, and its progress."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from pages.adapt import state as page_state
from ui import state
from ui.escaping import plain
from ui.memory import trainings

if TYPE_CHECKING:
    from models.adapting.recipe import Recipe
    from models.adapting.teaching import Teaching
    from models.language_model import LanguageModel


def begin(model: LanguageModel, text: str, recipe: Recipe | None) -> None:
    """Draw the button that starts; show an error where these sentences or this model cannot be taught."""
    from models.adapting.teaching import Teaching, check_model

    if recipe is not None:
        try:
            check_model(model, recipe)
        except ValueError as error:
            st.info(plain(str(error)), icon=":material/info:")
            recipe = None
    st.button(
        "Start",
        icon=":material/play_arrow:",
        type="primary",
        disabled=recipe is None,
        width="stretch",
        key="adapt-start",
        on_click=page_state.STARTED.set,
        args=(True,),  # a run that is cut off before this leaves that to the next
    )
    if not page_state.STARTED.get() or recipe is None:
        return
    try:
        teaching = Teaching(model, text, recipe)
        trainings.keep(trainings.new_name(), teaching)
        teaching.start()
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/report:")
        return
    finally:
        page_state.STARTED.set(False)
    st.rerun()


def buttons(teaching: Teaching) -> None:
    """Draw the buttons of an adaptation, and its progress."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="adapt-buttons"):
        if teaching.state == "running":
            st.button("Pause", icon=":material/pause:", on_click=teaching.pause, key="adapt-pause")
        elif teaching.state == "paused":
            st.button(
                "Continue", icon=":material/play_arrow:", type="primary", on_click=resume, args=(teaching,), key="adapt-go-on"
            )
        if teaching.state in ("running", "paused"):
            st.button("Stop", icon=":material/stop:", on_click=teaching.stop, key="adapt-stop")
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            key="adapt-reset",
            help="Drop what was learned and begin again.",
            on_click=reset,
        )
    share = min(1.0, teaching.step / teaching.recipe.steps)
    st.progress(1.0 if teaching.state == "done" else share, progress(teaching))
    if teaching.state in ("diverged", "failed"):
        st.warning(plain(f"{teaching.says} Press “Reset” to try it differently."), icon=":material/report:")


def resume(teaching: Teaching) -> None:
    """Continue after a pause; a message says so where as many trainings run already as are allowed."""
    try:
        trainings.check_running()
        teaching.start()
    except ValueError as error:
        st.toast(plain(str(error)), icon=":material/report:")


def reset() -> None:
    trainings.forget_teaching()
    page_state.MATRIX.pop()
    state.run_whole_page_next()


def progress(teaching: Teaching) -> str:
    """Say how far it is."""
    if teaching.state not in ("running", "paused"):
        return teaching.says if teaching.state in ("done", "stopped") else f"Ended at step {teaching.step}."
    others = trainings.running() - (teaching.state == "running")
    beside = f" {others} more on this server take turns with it." if others > 0 else ""
    paused = "Paused at step" if teaching.state == "paused" else "Step"
    return f"{paused} {teaching.step} of {teaching.recipe.steps}.{beside}"
