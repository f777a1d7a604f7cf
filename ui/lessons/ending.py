"""The end of a lesson: the visitor's level, model and texts from before it come back."""

from __future__ import annotations

from ui import state
from ui.choices import text_boxes
from ui.lessons import course
from ui.lessons.files import Lesson
from ui.lessons.state import LEVELS, OWN


def close(lesson: Lesson) -> None:
    """Close the lesson on a click."""
    opened, number = LEVELS.get()[0], state.LESSON_STEP.get()
    course.leave()
    bring_back(lesson, number, opened)


def finish(lesson: Lesson) -> None:
    """Finish the lesson on a click, unless its reader is first told of unanswered questions."""
    opened, number = LEVELS.get()[0], state.LESSON_STEP.get()
    course.finish(lesson)
    if not state.LESSON.get():
        bring_back(lesson, number, opened)


def bring_back(lesson: Lesson, number: int, opened: str) -> None:
    """Bring back what the visitor had before the lesson, except what they have changed during it. number: the last open step;
    opened: the level at which it was opened."""
    if not (own := OWN.pop()):
        return
    back = []
    if has_texts_of(lesson, number) and any(course.text_in(key) != own[key.name] for key in course.TEXTS):
        for key in course.TEXTS:
            text_boxes.change(key, own[key.name])
        back.append("your text")
    level, model = own[state.LEVEL.name], own[state.MODEL.name]
    if opened == state.level() != level:
        state.LEVEL.set(level)
        back.append(f"your level, “{level.capitalize()}”,")
    if lesson.model_at(number) == course.model_in_use() != model:
        state.ask_for_model(model)
        state.LESSON_MODEL.set(model)
        back.append("your model")
    if back:
        words = " and ".join(back)
        state.DONE.set(f"{words[0].upper()}{words[1:]} {'are' if len(back) > 1 else 'is'} back, as before the lesson.")


def has_texts_of(lesson: Lesson, number: int) -> bool:
    """Return whether the boxes still contain the texts of a step."""
    link = lesson.steps[number - 1].link
    return all(course.text_in(key) == link.get(key.name, course.text_in(key)) for key in course.TEXTS)
