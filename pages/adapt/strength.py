"""Pictures of what a taught model knows, and of what it has forgotten, at each strength of its change."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from pages.adapt import recipes
from pages.adapt import state as page_state
from pages.adapt.steps import once_a_step
from ui import state
from ui.picture.picture import Numbers, Picture
from ui.show import show_chart
from ui.words import say
from viz.numbers import percent, whole_percent

if TYPE_CHECKING:
    from models.adapting.measuring import Measured
    from models.adapting.teaching import Teaching

STRENGTHS = tuple(step / 10 for step in range(11))  # those of the slider in the side bar
RIGHT, WRONG = "the right last word", "another sentence’s last word"
ENOUGH = 0.9  # of the chance at full strength, from which on a smaller strength is said to be nearly as good


def draw(here: Path, teaching: Teaching) -> list[Picture]:
    """Draw the chances of the last words, and the perplexity on other text, over the strength."""
    if not teaching.step or teaching.state == "running":
        st.caption("This is measured when the model has stopped learning.")
        return []
    measured = once_a_step(page_state.DIALLED, teaching, lambda: teaching.at_strengths(STRENGTHS))
    say_finding(here, measured)
    chances = {RIGHT: [float(np.mean(each.chances)) for each in measured]}
    if teaching.texts.exchanged:
        chances[WRONG] = [float(np.mean(each.wrong)) for each in measured]
    beginner = state.level() == "beginner"
    up = "unsure as among so many tokens" if beginner else "perplexity"
    pictures = [
        curves(teaching, "chances", chances, {"up": "chance", "shares": True}),
        curves(teaching, "others", {"text that is not taught": [math.exp(each.others) for each in measured]}, {"up": up}),
    ]
    for picture in pictures:
        show_chart(picture.drawn, picture.key, config={"displayModeBar": False})
    say(here, "strength")
    return pictures


def curves(teaching: Teaching, name: str, lines: dict[str, list[float]], options: dict[str, object]) -> Picture:
    """Return a picture of lines over the strength."""
    strengths, values = np.array(STRENGTHS), np.array(list(lines.values()))
    return Picture(
        recipes.over_strength,
        (),
        {"names": list(lines), "options": options},
        f"adapt-strength-{name}",
        lambda: {"value": Numbers(values, ("line", "strength"), {"line": list(lines), "strength": strengths.tolist()})},
        words=teaching.subject,
        title="Over the strength" if name == "chances" else "Other text over the strength",
        data={"strengths": strengths, "values": values},
    )


def say_finding(here: Path, measured: list[Measured]) -> None:
    """Say which strength is nearly as good as all of it, and what it costs less."""
    right = [float(np.mean(each.chances)) for each in measured]
    share = whole_percent if state.level() == "beginner" else percent
    at = least(right)
    facts = {
        "s": f"{STRENGTHS[at]:g}",
        "strength": f"{STRENGTHS[at]:.0%}".replace("%", " %"),
        "right": share(right[at]),
        "right_all": share(right[-1]),
        "others": f"{math.exp(measured[at].others):,.0f}",
        "others_all": f"{math.exp(measured[-1].others):,.0f}",
        "others_before": f"{math.exp(measured[0].others):,.0f}",
    }
    if right[-1] <= right[0]:
        return say(here, "strength taught nothing", **facts)
    say(here, "strength is enough" if at < len(STRENGTHS) - 1 else "strength is needed", **facts)


def least(right: list[float]) -> int:
    """Return the place of the least strength from which on the right words have nearly the chance that they have at the end."""
    at = len(right) - 1
    while at and right[at - 1] >= ENOUGH * right[-1]:
        at -= 1
    return at
