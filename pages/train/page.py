"""Page "Train": a small transformer learns while the visitor watches its heads."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.train import choose, compare, control, depth, display, experiments, scale, use
from pages.train import state as page_state
from ui import shell, state
from ui.escaping import plain
from ui.look import Look
from ui.memory import trainings
from ui.show import picture
from ui.words import say, words

if TYPE_CHECKING:
    from models.training.live import Training

HERE = Path(__file__).parent
EVERY = 1.0  # seconds between two updates of a running training


def draw(look: Look) -> None:
    name, training = trainings.mine()
    runs = trainings.runs()
    plans = training is None or (page_state.ADDING.get() and len(runs) < trainings.RUNS)
    if training is not None and not plans:
        control.start(training)
    # On a phone the picture comes first, but nothing comes before the choices while there is none.
    if training is None and (sentence := trainings.notice_of_loss()):
        st.info(plain(sentence), icon=":material/info:")
    left, right = st.container(key="plan" if plans else "look").columns([4, 8], gap="medium")
    with left:
        several = len(runs) > 1 and not plans
        if several:
            control.add_run(plans, len(runs))
        with st.expander(words(HERE, "next run")) if several else nullcontext():  # what a run had is not what the next one has
            task = choose.task(disabled=not plans)
            if not several:
                say(HERE, f"task {task}")
            first = st.container()  # many choices stand between the task and the end of the page
            sizes, budget = choose.numbers(disabled=not plans)
        plan, log = None, plans and control.log_switch()
        with first:
            if plans:
                plan = plan_or_error(task, sizes, budget, look)
                choose.say_matched(HERE, plan, sizes)
                control.begin(plan, log)
            if training is None:
                experiments.place(HERE)
            if training is not None and not several:
                control.add_run(plans, len(runs))
            if training is not None and not plans and not several:
                say(HERE, "fixed", what=control.describe(training))
                say(HERE, "what")
        if plans and training is not None:
            display.preview_rate(HERE, plan)
    with right:
        if training is None:
            display.preview(HERE, plan)
            scale.place(HERE)
            depth.place(HERE)
            return
        if len(runs) > 1:
            is_running = any(run.state == "running" for _, run in runs)
            st.fragment(compare.watch, run_every=EVERY if is_running else None)(HERE, runs, compare.states(runs))
            return
        st.fragment(watch, run_every=EVERY if training.state == "running" else None)(name, training, training.state)


def plan_or_error(task: str, sizes: dict, budget: dict, look: Look) -> choose.Plan | None:
    """Return the plan of a training; show an error and return None if it cannot be trained."""
    try:
        return choose.plan(task, sizes, budget, look.trace.text)
    except ValueError as error:
        sentence = str(error)
        if look.beginner:  # the number's label is “Width” here
            sentence = sentence.replace("d_model (", "The width (").replace("d_model", "the width")
        st.error(plain(sentence), icon=":material/report:")
        return None


def watch(name: str, training: Training, drawn: str) -> None:
    """Draw the state and the pictures of a training; redrawn while it runs. drawn: the state in which the page was drawn."""
    if training.state != drawn or state.WHOLE_PAGE.pop():
        st.rerun()
    control.buttons(training)
    if training.state == "running" and not training.has_begun:
        st.caption("It begins …")
        return
    with picture("This training"):
        display.picture(HERE, training)
    if training.state != "running" and training.step:
        with picture("The trained model"):
            use.place(HERE, name, training)


def uses_no_text() -> bool:
    """Return whether the task makes its own examples, so that no text is learned."""
    return page_state.TRAIN_TASK.get_or(page_state.TRAIN_TASK.in_address) != page_state.TRAIN_TASK.values[-1]


# The text in the box is what is learned, not what the model in use reads.
shell.live(HERE, draw, reads=False, reads_model=False, hides_boxes=uses_no_text)
