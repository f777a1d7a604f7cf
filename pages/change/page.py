"""Page "Change": experiments on the model, each compared with the unchanged model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

import streamlit as st

from pages.change import of_image, switching
from pages.change import state as page_state
from pages.change.circuit import panel as circuit
from pages.change.compose import HERE
from pages.change.steer import panel as steer
from pages.change.texts import panel as texts
from pages.change.wrote import panel as wrote
from ui import shell
from ui.choices import heads, picker
from ui.choices.widgets import tabs
from ui.live.connect import Live
from ui.look import Look
from ui.memory import loaded
from ui.picture.picture import Picture
from ui.picture.take_away import take_away
from ui.show import picture
from ui.words import heading_for, say, words

PANELS = {  # of the experiments that runs of the page draw
    "Two texts": texts.panel,
    "What wrote it": wrote.panel,
    "Circuit": circuit.panel,
    "Steer": steer.panel,
}
OFFERED = {
    "beginner": ("Switch off", "Steer"),
    "intermediate": page_state.EXPERIMENT.values,
    "expert": page_state.EXPERIMENT.values,
}


drawn: set[str] = set()  # experiments that have stood on this page: then the last board stays while the next is prepared


def draw(look: Look) -> Live | None:
    if "image" in look.model.info.reads:
        return draw_picture(look)
    pictures: Sequence[Picture] = ()
    live: Live | None = None
    above = shell.above()
    offered = OFFERED[look.level]
    with above:
        experiment = tabs(page_state.EXPERIMENT, "the experiment", offered)
    with st.container():
        say_questions(look, experiment)
    waiting = ExitStack()
    with st.container():  # also where it holds nothing: what follows keeps its place
        if experiment not in drawn:
            waiting.enter_context(st.spinner("Preparing the experiment …"))
    drawn.add(experiment)
    with waiting, picture(f"The experiment “{experiment}”"):
        if experiment in PANELS:
            pictures = PANELS[experiment](look, above)
        else:
            pictures, live = switching.panel(look, above)
    with above, picture("“Take it away”"):
        take_away("change", lambda: pictures)
    return live


def say_questions(look: Look, experiment: str) -> None:
    """Say what each experiment answers, at the levels whose words have it; on a narrow screen, only the chosen one."""
    names = (experiment,) if look.narrow else OFFERED[look.level]
    if text := " ".join(filter(None, (words(HERE, f"asks {name.lower()}") for name in names))):
        st.caption(text)


def draw_picture(look: Look) -> Live | None:
    """Draw the experiment that a model of images has here."""
    pictures: Sequence[Picture] = ()
    live: Live | None = None
    above = shell.above()
    with picture("The experiment “Switch off”"):
        pictures, live = of_image.panel(look, above)
    with above, picture("“Take it away”"):
        take_away("change", lambda: pictures)
    say(HERE, "texts only image")
    return live


heads.side_bar(picker.in_use())
info = loaded.info(picker.in_use())
case = "image" if "image" in info.reads else "labels" if info.labels else ""
shell.live(HERE, draw, purpose=heading_for(HERE, "purpose", case), reads_images=True)
