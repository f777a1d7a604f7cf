"""The table of a lesson's step about a paper: published numbers beside those of the model in use."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from analysis.true_answers import Answer
from ui.escaping import display_name, plain
from ui.lessons.files import Number, Step
from ui.parts import complaint

LATER = "your answer first"
WRITTEN = {"beside", "total"}  # of what an answer is given: how it is asked for or said, and not of what it is


Measure = Callable[[str, Mapping[str, Any]], Answer]
"""What the model in use answers, by the name of an answer and what that is given."""


def draw(step: Step, model: str, measure: Measure, answered: bool) -> None:
    """Place the table and the sources of its numbers. model: the model in use. answered: whether the question has been answered
    correctly; until then its answer, and what follows from it, is hidden."""
    published, troubles, rows = step.published, list[str](), list[str]()
    assert published
    for published_number in published.numbers:
        as_published = f"{published_number.number} {published_number.unit}".strip()
        measured_here, trouble = measure_number(published_number, step, measure)
        if asks_for(step, published_number) and not answered and not trouble:
            measured_here = LATER
        rows.append(f"| {cell(published_number.of)} | {cell(as_published)} | {cell(measured_here)} |")
        troubles += [trouble] if trouble else []
    head = f"| | published | measured here, with “{cell(display_name(model))}” |\n|---|---|---|"
    with st.container(key="lesson-published"):
        st.markdown("\n".join([head, *rows]))
        st.caption(f"Published: {plain(published.source)}.")
        for trouble in dict.fromkeys(troubles):
            st.caption(plain(trouble))
        if answered or not step.question:
            st.markdown(f"**When they differ.** {published.differ}")


def asks_for(step: Step, number: Number) -> bool:
    """Return whether the step's question asks for this number."""
    if not step.question or not number.answer:
        return step.question is not None
    number_given, question_given = (
        {name: value for name, value in source.given.items() if name not in WRITTEN} for source in (number, step.question)
    )
    return (number.answer, number_given) == (step.question.answer, question_given)


def measure_number(number: Number, step: Step, measure: Measure) -> tuple[str, str]:
    """Return this model's number, or the reason why there is none."""
    question = step.question
    name, given = (number.answer, number.given) if number.answer or not question else (question.answer, question.given)
    try:
        measured_answer = measure(name, given)
    except Exception as error:
        return "–", complaint(f"“{number.of}”", error, "measured")
    return f"{format_answer(measured_answer)} {number.unit}".strip(), ""


def format_answer(measured_answer: Answer) -> str:
    """Format an answer as a number in a table, with the minus sign that papers use."""
    value = measured_answer.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else f"{value:g}".replace("-", "−")


def cell(text: str) -> str:
    """Return text for one cell and one line; a number stays with its unit."""
    return plain(text).replace(" %", "\u00a0%")
