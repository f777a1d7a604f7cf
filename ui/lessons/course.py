"""Where a visitor is in a lesson."""

from __future__ import annotations

from collections.abc import Mapping

from ui import state
from ui.lessons import files
from ui.lessons.files import Lesson, LessonError, Step


def current() -> Lesson | None:
    """The lesson that is open; None where there is none, or where its file is wrong, which is then said."""
    name = state.LESSON.get()
    if not name:
        return None
    try:
        lesson = files.find(name)
        if lesson is None:
            state.complain(state.LESSON, name, "the lesson")
    except LessonError as error:
        lesson = None
        state.TROUBLE.set(str(error))
    if lesson is None:
        leave()
    elif not 1 <= state.LESSON_STEP.get() <= len(lesson.steps):
        state.complain(state.LESSON_STEP, str(state.LESSON_STEP.asked), "the step")
        state.LESSON_STEP.set(1)
    return lesson


def begin(lesson: Lesson, number: int = 1, more: Mapping[str, str] | None = None) -> None:
    """Open a step of a lesson, from the next run on: its page, with its choices and no others. more: choices beside the step's."""
    model = lesson.model_at(number)
    others = {} if model == lesson.model_at(state.LESSON_STEP.get()) else {"model": model}  # else the visitor's own one stays
    state.LESSON.set(lesson.name)
    state.LESSON_STEP.set(number)
    reach(lesson, number)
    step = lesson.steps[number - 1]
    link = {**others, **step.link, **(more or {})}
    state.LESSON_NEXT.set((link.pop("page", step.page), link))


def arrive() -> None:
    """What a visitor's first link says of a lesson. One with nothing else opens the step."""
    if state.LESSON.held:
        return
    state.LESSON.set(state.LESSON.asked or "")
    asked = state.LESSON_STEP.asked or "1"
    state.LESSON_STEP.set(int(asked) if asked.isdecimal() and len(asked) < 4 else 0)
    lesson = current()
    if lesson and not state.asked_for() - {state.LESSON.name, state.LESSON_STEP.name}:
        begin(lesson, state.LESSON_STEP.get(), {state.MODEL.name: lesson.model_at(state.LESSON_STEP.get())})


def leave() -> None:
    """Close the lesson; where one was stays known."""
    state.LESSON.set("")
    state.LESSON_STEP.set(1)


def finish(lesson: Lesson) -> None:
    """Close the lesson at its end, and go back to the list, where the next one stands."""
    leave()
    reach(lesson, 0)
    state.LESSON_NEXT.set(("lessons", None))


def reach(lesson: Lesson, number: int) -> None:
    state.LESSON_PLACES.set({**(state.LESSON_PLACES.get() or {}), lesson.name: number})


def reached(lesson: Lesson) -> int | None:
    """The step at which a visitor was last, 0 of a lesson that is finished, None of one that was never opened."""
    at = (state.LESSON_PLACES.get() or {}).get(lesson.name)
    return at if at is None or at <= len(lesson.steps) else None


def is_elsewhere(step: Step, page: str) -> bool:
    """Whether a visitor has gone from the step's page, or has typed another text."""
    return page != step.page or state.written(state.TEXT) not in ("", step.link.get("text", state.written(state.TEXT)))
