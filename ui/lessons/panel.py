"""The panel of a lesson, beside every page: a step's words, its question, and the button to the next step."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import streamlit as st

from analysis.true_answers import Answer
from ui import document, state
from ui.escaping import display_name, plain
from ui.lessons import beside_papers, course
from ui.lessons.answers import in_words, measure_answer
from ui.lessons.files import Lesson, Question
from ui.lessons.state import UNANSWERED
from ui.parts import complaint
from viz.tokens import plain_name

IN_BARS = {"likeliest token", "likeliest token is", "probability"}  # answers that the bars of predictions tell
TYPED = {"after", "than", "other", "first", "second"}  # of what an answer is given: texts that one has to type to see it


class Endings(NamedTuple):
    """The callbacks for the clicks that end a lesson."""

    close: Callable[[Lesson], None]
    finish: Callable[[Lesson], None]


def show(page: str, model: str, endings: Endings, hidden: bool = False) -> Callable[[], None]:
    """Reserve the place of the open lesson, and return the function that draws it after the page, whose text and picture come
    first. page: the open page's name in an address. model: the name of the model in use. endings: what ends a lesson. hidden:
    whether another part of that page shows the step."""
    lesson = course.current()
    number = state.LESSON_STEP.get()
    state.keep(state.LESSON, state.LESSON.get(), "")
    state.keep(state.LESSON_STEP, number, 1)
    place = st.container(key="lesson-place")  # without a lesson too: what follows keeps its place, and what is typed finds it
    if not lesson or hidden:
        return lambda: None
    with place:
        place = st.container(key="lesson", gap="small")

    @st.fragment
    def panel() -> None:
        if state.LESSON_NEXT.is_set or not state.LESSON.get():
            st.rerun()
        draw(lesson, number, page, model, endings)

    def fill() -> None:
        with place:
            panel()

    return fill


def draw(lesson: Lesson, number: int, page: str, model: str, endings: Endings) -> None:
    step = lesson.steps[number - 1]
    with st.container(horizontal=True, vertical_alignment="center", gap="small", wrap=False, key="lesson-head"):
        st.caption(f"{plain(lesson.title)} · step\u00a0{number}\u00a0of\u00a0{len(lesson.steps)}", width="stretch")
        folded = state.LESSON_FOLDED.get()
        st.button(
            "Show the lesson" if folded else "Hide the lesson",
            key="lesson-fold",
            type="tertiary",
            on_click=fold,
            icon=":material/expand_less:" if folded else ":material/expand_more:",
        )
        st.button(
            "Close the lesson",
            key="lesson-close",
            icon=":material/close:",
            type="tertiary",
            on_click=endings.close,
            args=(lesson,),
        )
    if folded:
        return
    st.markdown(f"#### {plain(step.title)}\n\n{keep_percents_together(step.words)}")
    if number == 1 and (own := course.own_level()) not in ("", lesson.level):
        st.caption(
            f"This lesson is at the level “{lesson.level.capitalize()}”. "
            f"Your level, “{own.capitalize()}”, comes back when you finish or close it, and so does your text."
        )
    if page == step.page and (levels := course.level_raised()):
        st.caption("This step is shown at the level “{}”: at “{}” not all of it is there.".format(*map(str.capitalize, levels)))
    if page != step.page:
        st.caption("This is not the page of the step. Look around as long as you like.")
        st.button(
            "Show this step again", key="lesson-again", icon=":material/undo:", on_click=course.begin, args=(lesson, number)
        )
    asked = ask(lesson, number, step.question, model) if step.question else None
    rewritten = page == step.page and course.is_elsewhere(step, page)
    if rewritten:
        st.button(
            "Bring back the text of this step",
            key="lesson-again",
            icon=":material/undo:",
            on_click=course.begin,
            args=(lesson, number),
        )
    if step.published:
        measure = partial(measure_answer, step, model)
        beside_papers.draw(step, model, measure, bool(asked and asked[0].accepts(asked[1])))
    with st.container(key="lesson-foot", gap="small"):  # on a phone it stays in sight
        if asked and step.question:
            judge(lesson, number, step.question, model, *asked, rewritten)
        if number == len(lesson.steps):
            remind(lesson)
        ways(lesson, number, endings)
    document.keep_lessons(course.saved_progress())
    document.open_step(f"{lesson.name} {number}", str(asked[1]) if asked else "", **sight(lesson, number, asked))


def keep_percents_together(words: str) -> str:
    """Keep each number on one line with its per cent sign."""
    return re.sub(r"(?<=\d) (?=%)", "\u00a0", words)


def remind(lesson: Lesson) -> None:
    """Say how many questions are unanswered, with a button to the first of them, once the end of the lesson was asked for."""
    steps = course.unanswered(lesson)
    if not steps or UNANSWERED.get() != lesson.name:
        return
    count = "One question has" if len(steps) == 1 else f"{len(steps)} questions have"
    st.info(f"{count} no answer yet. Press “Finish” again to end the lesson all the same.", icon=":material/help:")
    st.button(
        f"Go to the question of step {steps[0]}",
        key="lesson-unanswered-step",
        icon=":material/undo:",
        on_click=course.begin,
        args=(lesson, steps[0]),
    )


def ways(lesson: Lesson, number: int, endings: Endings) -> None:
    """Draw the buttons to the previous and the next step."""
    with st.container(horizontal=True, horizontal_alignment="distribute", key="lesson-ways"):
        st.button(
            "Back",
            key="lesson-back",
            icon=":material/arrow_back:",
            disabled=number == 1,
            on_click=course.begin,
            args=(lesson, number - 1),
        )
        last = number == len(lesson.steps)
        st.button(
            "Finish" if last else "Next",
            key="lesson-next-step",
            type="primary",
            icon=":material/check:" if last else ":material/arrow_forward:",
            on_click=endings.finish if last else course.begin,
            args=(lesson,) if last else (lesson, number + 1),
        )


def fold() -> None:
    state.LESSON_FOLDED.set(not state.LESSON_FOLDED.get())


def ask(lesson: Lesson, number: int, question: Question, model: str) -> tuple[Answer, str | float | bool] | None:
    """Ask the question of a step, and return the right answer and the visitor's; None while either is missing."""
    try:
        right = measure_answer(lesson.steps[number - 1], model, question.answer, question.given)
    except Exception as error:
        if state.JOB.get():  # it was asked of the model before, which need not read what this step sets
            st.caption("The model of this step is being prepared …")
        else:
            st.info(plain(f"{question.ask} {complaint('The answer', error, 'computed')}"))
        return None
    answers = state.LESSON_ANSWERS.get() or {}
    key = state.answer_key(lesson.name, number, answers.get((lesson.name, number)))
    before = key.get()
    st.markdown(plain(question.ask))
    given: str | float | None
    if right.choices:
        index = right.choices.index(before) if before in right.choices else None
        given = st.radio(question.ask, right.choices, index, key=key.name, format_func=offered, label_visibility="collapsed")
    else:
        given = st.number_input(
            question.ask,
            value=before,
            key=key.name,
            format="%g",
            placeholder="a number, then Enter",
            label_visibility="collapsed",
        )
    if given is None:
        return None
    state.LESSON_ANSWERS.set({**answers, (lesson.name, number): given})
    return right, given == "Yes" if isinstance(right.value, bool) else given


def judge(
    lesson: Lesson, number: int, question: Question, model: str, right: Answer, given: str | float | bool, rewritten: bool
) -> None:
    """Reply to an answer: right, wrong with a hint, or right only for the lesson's own model. rewritten: whether the page's text
    is not the step's, so that the hint may not fit."""
    its, own = f"With “{display_name(model)}” it is {in_words(right.value)}.", lesson.model_at(number)
    if right.accepts(given):
        st.success(plain(f"Right. {its}"), icon=":material/check:")
    elif model != own and question.expect is not None and Answer(question.expect, within=right.within).accepts(given):  # type: ignore[arg-type]
        st.info(plain(f"That is the answer of “{own}”, for which the lesson was written. {its}"))
    else:
        other = "" if TYPED & question.given.keys() or not rewritten else " But the text of this step is no longer on the page."
        st.warning(plain(f"Not quite. {question.hint}{other}"), icon=":material/lightbulb:")
    if question.show:
        st.button(
            "Show me",
            key="lesson-show",
            icon=":material/visibility:",
            on_click=course.show,
            args=(lesson, number, question.show),
        )


def sight(lesson: Lesson, number: int, asked: tuple[Answer, str | float | bool] | None) -> dict[str, Any]:
    """Return the part of a step to scroll into sight, as `document.open_step` takes it. asked: the right answer and the
    visitor's.
    """
    step = lesson.steps[number - 1]
    question = step.question
    of, times = course.shown_answer()
    return {
        "right": bool(asked and asked[0].accepts(asked[1])),
        "picture": "prediction-bars" if step.page == "type" and question and asks_for_bars(question) else "",
        "heading": question.heading if question else "",
        "shown": str(times) if of == f"{lesson.name} {number}" else "",
    }


def asks_for_bars(question: Question) -> bool:
    """Return whether a reader looks at the bars of predictions first, and not at the text box."""
    return question.answer in IN_BARS and not TYPED & question.given.keys()


def offered(choice: str) -> str:
    """Format a choice as the page beside it does."""
    return plain(plain_name(choice) if state.level() == "beginner" else choice)
