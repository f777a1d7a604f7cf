"""Controls of a training: start, pause, stop, reset, and its progress."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import streamlit as st

from pages.train import state as page_state
from ui import state
from ui.choices.networks import LAYERS_OF
from ui.choices.widgets import switch
from ui.escaping import plain
from ui.memory import trainings

if TYPE_CHECKING:
    from models.training.live import Training
    from models.training.tensorboard import TensorBoardLog
    from pages.train.choose import Plan


def log_switch() -> bool:
    """Draw the switch for a TensorBoard log, and return whether it is on."""
    if state.level() == "beginner":
        return False
    return switch(page_state.TRAIN_LOG, "TensorBoard log", help="Writes scalars, histograms, the graph and the embedding.")


def begin(plan: Plan | None, log: bool) -> None:
    """Draw the button that starts the planned training; show an error if it cannot be trained."""
    st.button(
        "Start",
        icon=":material/play_arrow:",
        type="primary",
        disabled=plan is None,
        width="stretch",
        key="train-start",
        on_click=page_state.TRAIN_STARTED.set,
        args=(True,),  # a run that is cut off before this leaves that to the next
    )
    if not page_state.TRAIN_STARTED.get() or plan is None:
        return
    from models.training.live import Training

    name = trainings.new_name()
    page_state.TRAINED_AT.set(None)
    page_state.COMPARED_AT.set(None)
    try:
        task, config, budget = plan
        if log and not config.heads:
            raise ValueError("A TensorBoard log shows heads, and this network has none. Switch the log off to train it.")
        training = Training(task, config, budget, watch=new_log(name, task.name)) if log else Training(task, config, budget)
        trainings.keep(name, training)
        start(training)  # at once: where there is no more room, one that is paused would make place for the next newcomer
    except ValueError as error:
        page_state.TRAIN_STARTED.set(False)
        st.error(plain(str(error)), icon=":material/report:")
        return
    page_state.ADDING.set(False)
    st.rerun()


def add_run(plans: bool, count: int) -> None:
    """Draw the button that plans another run, or gives that up. plans: whether one is being planned; count: of the runs."""
    if plans:
        st.button(
            "Back to the runs", icon=":material/arrow_back:", key="train-no-run", on_click=page_state.ADDING.set, args=(False,)
        )
    else:
        st.button(
            "Compare with another run",
            icon=":material/add:",
            disabled=count >= trainings.RUNS,
            key="train-add-run",
            help=f"Choose one thing differently and start again: up to {trainings.RUNS} runs stand side by side.",
            on_click=page_state.ADDING.set,
            args=(True,),
        )


def start(training: Training) -> None:
    """Start a training that was requested in this run or in an earlier one that was cut off."""
    if page_state.TRAIN_STARTED.get():
        page_state.TRAIN_STARTED.set(False)
        if training.step == 0:
            training.start()
        else:  # this one has begun long ago: another tab has taken the last place
            st.info(f"Nothing new has begun: there are {len(trainings.runs())} runs already.", icon=":material/info:")


def resume(training: Training) -> None:
    """Continue a paused training; a message says so where as many run already as are allowed."""
    try:
        trainings.check_running()
        training.start()
    except ValueError as error:
        st.toast(plain(str(error)), icon=":material/report:")


def new_log(name: str, task: str) -> TensorBoardLog:
    """Create a training's log. Errors: ValueError, a sentence, if it cannot be begun."""
    from models.training.tensorboard import TensorBoardLog

    try:
        return TensorBoardLog(trainings.logs(name), task)
    except (ValueError, OSError) as error:
        logging.getLogger(__name__).exception("The log of a training could not be started")
        raise ValueError(f"The TensorBoard log could not be started. {trainings.why(error)}. Train without the log.") from error


def describe(training: Training) -> str:
    """Describe what is being trained."""
    config, budget = training.config, training.budget
    layers = f"{config.layers} layer{'s'[: config.layers != 1]}"
    of = f"of {config.heads} heads" if config.heads else f"of {LAYERS_OF[network_of(training)]}"
    subject = f"“{training.task.name}” with {layers} {of}"
    if state.level() == "beginner":
        return f"{subject}, in {budget.steps} steps"
    examples = f"in {budget.steps} steps of {budget.rows} examples at a learning rate of {budget.rate:g}"
    return f"{subject}, {training.parameters:,} parameters, {examples}"


def network_of(training: Training) -> str:
    """Return the kind of a training's network, one of NETWORKS."""
    return getattr(training.config, "network", "transformer")


def buttons(training: Training) -> None:
    """Draw the buttons of a training, and its progress."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="train-buttons"):
        if training.state == "running":
            st.button("Pause", icon=":material/pause:", on_click=training.pause, key="train-pause")
            st.button("Stop", icon=":material/stop:", on_click=training.stop, key="train-stop")
        elif training.state == "paused":
            st.button(
                "Continue", icon=":material/play_arrow:", type="primary", on_click=resume, args=(training,), key="train-go-on"
            )
            st.button("Stop", icon=":material/stop:", on_click=training.stop, key="train-stop")
        st.button(
            "Reset", icon=":material/restart_alt:", key="train-reset", help="Drop this model and choose another.", on_click=reset
        )
    share = min(1.0, max(training.step / training.budget.steps, training.seconds / training.budget.seconds))
    st.progress(1.0 if training.state == "done" else share, progress(training))
    if training.state in ("diverged", "failed"):
        st.warning(plain(f"{training.says} Press “Reset” to choose another one."), icon=":material/report:")
    if sentence := getattr(training.watch, "says", ""):  # the log could not be written any more
        lies = str(getattr(training.watch, "folder", sentence))  # which is nobody's business on a page
        st.warning(plain(sentence.replace(lies, "its folder")), icon=":material/monitoring:")


def reset() -> None:
    trainings.forget()
    state.run_whole_page_next()


def progress(training: Training) -> str:
    """Say how far a training is."""
    if training.state not in ("running", "paused"):
        return training.says if training.state in ("done", "stopped") else f"Ended at step {training.step}."
    others = trainings.running() - 1
    running = "training runs" if others == 1 else "trainings run"
    beside = f" {others} more {running} on this server, and all take turns." if others > 0 else ""
    paused = "Paused at step" if training.state == "paused" else "Step"
    return f"{paused} {training.step} of {training.budget.steps}, {training.seconds:.0f} seconds of computing.{beside}"
