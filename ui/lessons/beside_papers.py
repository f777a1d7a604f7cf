"""The table of a lesson's step about a paper: published numbers beside those of the model in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from analysis.answers import Answer
from ui.lessons.files import Number, Step
from ui.show import complaint
from ui.text import called, plain

LATER = "your answer first"
WRITTEN = {"beside", "total"}  # of what an answer is given: how it is asked for or said, and not of what it is


Measure = Callable[[str, Mapping[str, Any]], Answer]
"""What the model in use answers, by the name of an answer and what that is given."""


def draw(step: Step, model: str, measure: Measure, answered: bool) -> None:
    """Place it, with where the numbers come from. model: that is in use. answered: whether the question has been answered
    rightly: until then its own answer is not told, nor what follows from it."""
    published, troubles, rows = step.published, list[str](), list[str]()
    assert published
    for one in published.numbers:
        number = f"{one.number} {one.unit}".strip()
        here, trouble = measured(one, step, measure)
        if asks_for(step, one) and not answered and not trouble:
            here = LATER
        rows.append(f"| {cell(one.of)} | {cell(number)} | {cell(here)} |")
        troubles += [trouble] if trouble else []
    head = f"| | published | measured here, with “{cell(called(model))}” |\n|---|---|---|"
    with st.container(key="lesson-published"):
        st.markdown("\n".join([head, *rows]))
        st.caption(f"Published: {plain(published.source)}.")
        for trouble in dict.fromkeys(troubles):
            st.caption(plain(trouble))
        if answered or not step.question:
            st.markdown(f"**When they differ.** {published.differ}")


def asks_for(step: Step, one: Number) -> bool:
    """Whether the question of the step asks for this number."""
    if not step.question or not one.answer:
        return step.question is not None
    told, asked = ({name: value for name, value in of.given.items() if name not in WRITTEN} for of in (one, step.question))
    return (one.answer, told) == (step.question.answer, asked)


def measured(one: Number, step: Step, measure: Measure) -> tuple[str, str]:
    """The number of this model, and why there is none."""
    asked = step.question
    name, given = (one.answer, one.given) if one.answer or not asked else (asked.answer, asked.given)
    try:
        found = measure(name, given)
    except Exception as error:
        return "–", complaint(f"“{one.of}”", error, "measured")
    return f"{written(found)} {one.unit}".strip(), ""


def written(found: Answer) -> str:
    """An answer as a number in a table: with the sign for less than zero that papers have."""
    value = found.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:g}".replace("-", "−")


def cell(text: str) -> str:
    """Text that stays in its cell and on one line, a number with its unit too."""
    return plain(text).replace(" %", "\u00a0%")
