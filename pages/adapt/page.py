"""Page "Adapt": the visitor teaches a model a few sentences, and sees what it learns and what it forgets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from models.adapting.strength import without_strength
from pages.adapt import choose, control, display, use
from ui import shell, state
from ui.choices.strength import base_in_use
from ui.escaping import display_name, plain
from ui.look import Look
from ui.memory import loaded, trainings
from ui.show import picture
from ui.words import say

if TYPE_CHECKING:
    from models.adapting.recipe import Recipe
    from models.adapting.teaching import Teaching

HERE = Path(__file__).parent
EVERY = 1.0  # seconds between two updates while it learns


def draw(look: Look) -> None:
    name, teaching = trainings.my_teaching()
    if teaching is None and (sentence := trainings.notice_of_loss()):
        st.info(plain(sentence), icon=":material/info:")
    left, right = st.container(key="plan" if teaching is None else "look").columns([4, 8], gap="medium")
    with left:
        text = choose.sentences(HERE, disabled=teaching is not None)
        first = st.container()  # many choices may stand between the sentences and the end of the page
        recipe = recipe_or_error(disabled=teaching is not None)
        with first:
            if teaching is None:
                base = base_in_use()
                if base != without_strength(look.model.info.name):
                    say(HERE, "from its base", base=plain(display_name(base)))
                control.begin(loaded.model(base), text, recipe)
            else:
                say(HERE, "fixed", base=plain(teaching.base))
    with right:
        if teaching is None:
            return display.preview(HERE)
        st.fragment(watch, run_every=EVERY if teaching.state == "running" else None)(name, teaching, teaching.state)


def recipe_or_error(disabled: bool) -> Recipe | None:
    """Return the recipe that is chosen; show an error and return None if there can be none such."""
    try:
        return choose.recipe(HERE, disabled)
    except ValueError as error:
        st.error(plain(str(error)), icon=":material/report:")
        return None


def watch(name: str, teaching: Teaching, drawn: str) -> None:
    """Draw the state and the pictures; redrawn while it learns. drawn: the state in which the page was drawn."""
    if teaching.state != drawn or state.WHOLE_PAGE.pop():
        st.rerun()
    control.buttons(teaching)
    if not teaching.has_begun:
        st.caption("It begins …" if teaching.state == "running" else "It has not begun.")
        return
    with picture("This adaptation"):
        display.draw(HERE, teaching)
    if teaching.state != "running" and teaching.step:
        with picture("The taught model"):
            use.place(HERE, name, teaching)


# The box above the pages is not used here: the sentences have a box of their own.
shell.live(HERE, draw, reads=False, hides_boxes=lambda: True)
