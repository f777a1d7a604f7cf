"""Page "Train": a small transformer learns while one watches what its heads do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from pages.train import choose, control, shown, use
from ui import shell, state
from ui.look import Look
from ui.memory import trainings
from ui.show import picture
from ui.text import plain
from ui.words import say

if TYPE_CHECKING:
    from models.training.live import Training

HERE = Path(__file__).parent
EVERY = 1.0  # seconds between two looks at a training that runs


def draw(look: Look) -> None:
    name, training = trainings.mine()
    if training is not None:
        control.start(training)
    # On a phone the picture comes first, but nothing comes before the choices while there is none.
    if training is None and (sentence := trainings.left()):
        st.info(plain(sentence), icon=":material/info:")
    left, right = st.container(key="look" if training else "plan").columns([4, 8], gap="medium")
    with left:
        task = choose.task(disabled=training is not None)
        say(HERE, f"task {task}")
        first = st.container()  # many choices stand between the task and the end of the page
        sizes, budget = choose.numbers(disabled=training is not None)
        if training is None:
            plan, log = planned(task, sizes, budget, look), control.log_switch()
        with first:
            if training is None:
                control.begin(plan, log)
            else:
                say(HERE, "fixed", what=control.described(training))
                say(HERE, "what")
    with right:
        if training is None:
            shown.before(HERE, plan)
            return
        st.fragment(watch, run_every=EVERY if training.state == "running" else None)(name, training, training.state)


def planned(task: str, sizes: dict, budget: dict, look: Look) -> choose.Plan | None:
    """What is to be trained; what cannot be is said."""
    try:
        return choose.plan(task, sizes, budget, look.trace.text)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/report:")
        return None


def watch(name: str, training: Training, drawn: str) -> None:
    """What the training is and shows, drawn again and again while it runs. drawn: the state in which the page was drawn."""
    if training.state != drawn or state.WHOLE_PAGE.pop():
        st.rerun()
    control.buttons(training)
    with picture("This training"):
        shown.picture(HERE, training)
    if training.state != "running" and training.step:
        with picture("The trained model"):
            use.place(HERE, name, training)


shell.live(HERE, draw, reads=False, reads_model=False)  # the text in the box is what is learned, not what the model in use reads
