"""A visitor's place in a lesson, and the moves between lessons and steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import models
from models.errors import FileError
from ui import state
from ui.lessons import files
from ui.lessons.files import Lesson, Step
from ui.lessons.state import LEVELS, OWN, UNANSWERED
from ui.state import Key

TEXTS = (state.TEXT, state.TARGET)
ALONE = {state.LESSON.name, state.LESSON_STEP.name}  # in an address: it says no more than which step


def current() -> Lesson | None:
    """Return the open lesson; None if none is open, or, with a message, if its file is wrong."""
    name = state.LESSON.get()
    if not name:
        return None
    try:
        lesson = files.find(name)
        if lesson is None:
            state.complain(state.LESSON, name, "the lesson")
    except FileError as error:
        lesson = None
        state.TROUBLE.set(str(error))
    if lesson is None:
        leave()
    elif not 1 <= state.LESSON_STEP.get() <= len(lesson.steps):
        state.complain(state.LESSON_STEP, str(state.LESSON_STEP.in_address), "the step")
        state.LESSON_STEP.set(1)
    return lesson


def begin(lesson: Lesson, number: int = 1, more: Mapping[str, str] | None = None) -> None:
    """Open a lesson's step in the next run: its page, with the step's choices and no others. more: choices to add."""
    model = lesson.model_at(number)
    others = {} if model == lesson.model_at(state.LESSON_STEP.get()) else {"model": model}  # else the visitor's own one stays
    step = lesson.steps[number - 1]
    link = {**others, **step.link, **(more or {})}
    link[state.LEVEL.name] = level_for(lesson, link.get(state.LEVEL.name, lesson.level))
    UNANSWERED.set("")
    if not state.LESSON.get():
        OWN.set(own_choices())
    state.WELCOME.set(False)  # nobody who began a lesson is asked where to begin
    state.LESSON.set(lesson.name)
    state.LESSON_STEP.set(number)
    state.LESSON_SHOWN.set(("", shown_answer()[1]))
    remember_step(lesson, number)
    state.LESSON_NEXT.set((link.pop("page", step.page), link))


def level_for(lesson: Lesson, least: str) -> str:
    """Return the level at which to open a step of a lesson, and remember it. least: the step's own, which has all that it shows.

    A lesson begins at its own level. A level that the visitor chooses meanwhile stays for the steps after it, except for those
    that need a higher one.
    """
    chosen = ""
    if state.LESSON.get() == lesson.name and state.LEVEL.is_set:
        opened, chosen = LEVELS.get()
        opened = opened or lesson.steps[state.LESSON_STEP.get() - 1].link.get(state.LEVEL.name, lesson.level)
        if state.level() != opened:
            chosen = state.level()
    level = max(chosen or least, least, key=state.LEVELS.index)
    LEVELS.set((level, chosen))
    return level


def own_choices() -> dict[str, Any]:
    """Return the visitor's present level, model and texts."""
    texts = {key.name: text_in(key) for key in TEXTS}
    return {state.LEVEL.name: state.level(), state.MODEL.name: model_in_use(), **texts}


def text_in(key: Key[str]) -> str:
    """Return the text of a box, also on a page without it."""
    return state.box_text(key) or key.of("last").get() or key.default


def own_level() -> str:
    """Return the level before the lesson; "" for a lesson that a link opened."""
    return (OWN.get() or {}).get(state.LEVEL.name, "")


def model_in_use() -> str:
    return state.IN_USE.get() or models.names()[0]


def level_raised() -> tuple[str, str] | None:
    """Return the level of the open step and the lower one that its visitor chose; None where the step has the chosen level."""
    opened, chosen = LEVELS.get()
    return (opened, chosen) if chosen and opened == state.level() != chosen else None


def show(lesson: Lesson, number: int, choices: Mapping[str, str]) -> None:
    """Open a step with choices that show its answer."""
    begin(lesson, number, choices)
    state.LESSON_SHOWN.set((f"{lesson.name} {number}", shown_answer()[1] + 1))


def shown_answer() -> tuple[str, int]:
    """Return the step whose answer is shown, "" for none, and how often an answer has been shown."""
    return state.LESSON_SHOWN.get() or ("", 0)


def arrive() -> None:
    """Take the lesson from a visitor's first link. A link with nothing else opens the step."""
    if state.LESSON.is_set:
        return
    state.LESSON.set(state.LESSON.in_address or "")
    number = state.LESSON_STEP.in_address or "1"
    state.LESSON_STEP.set(int(number) if number.isdecimal() and len(number) < 4 else 0)
    if not (lesson := current()):
        return
    if set(state.values_in_address()) - ALONE:
        remember_step(lesson, state.LESSON_STEP.get())
    else:
        begin(lesson, state.LESSON_STEP.get(), {state.MODEL.name: lesson.model_at(state.LESSON_STEP.get())})


def address(parameters: Mapping[str, str]) -> str:
    """Return the address for a link that only names a lesson: the page of its step, with all that the step sets; "" for other
    links, and for a lesson or a step that does not exist."""
    name, number = parameters.get(state.LESSON.name, ""), parameters.get(state.LESSON_STEP.name, "1")
    try:
        lesson = files.find(name) if not parameters.keys() - ALONE else None
    except FileError:  # the page says so
        return ""
    if not lesson or number not in map(str, range(1, len(lesson.steps) + 1)):
        return ""
    step, model = lesson.steps[int(number) - 1], lesson.model_at(int(number))
    choices = state.without_defaults(
        {state.LESSON.name: name, state.LESSON_STEP.name: number, **step.link, state.MODEL.name: model}
    )
    if model == models.names()[0]:
        del choices[state.MODEL.name]
    page = "" if step.page == "type" else step.page
    return f"./{page}?{urlencode(choices)}" if page or choices.keys() - ALONE else ""


def leave() -> None:
    """Close the lesson; the visitor's place in it is remembered."""
    LEVELS.set(("", ""))
    UNANSWERED.set("")
    state.LESSON.set("")
    state.LESSON_STEP.set(1)


def unanswered(lesson: Lesson) -> list[int]:
    """Return the steps (counted from 1) whose questions the visitor has not answered."""
    answers = state.LESSON_ANSWERS.get() or {}
    return [at for at, step in enumerate(lesson.steps, 1) if step.question and (lesson.name, at) not in answers]


def finish(lesson: Lesson) -> None:
    """Close the finished lesson, and go back to the list with the next one. The first time that questions are unanswered, only
    say so."""
    if unanswered(lesson) and UNANSWERED.get() != lesson.name:
        UNANSWERED.set(lesson.name)
        return
    leave()
    remember_step(lesson, 0)
    state.LESSON_FINISHED.set(tuple(dict.fromkeys((*state.LESSON_FINISHED.get(), lesson.name))))
    state.LESSON_NEXT.set(("lessons", None))


def remember_step(lesson: Lesson, number: int) -> None:
    state.LESSON_PLACES.set({**(state.LESSON_PLACES.get() or {}), lesson.name: number})


def last_step(lesson: Lesson) -> int | None:
    """Return the step at which a visitor was last, 0 for a finished lesson, None for one that was never opened."""
    at = (state.LESSON_PLACES.get() or {}).get(lesson.name)
    return at if at is None or at <= len(lesson.steps) else None


def is_finished(lesson: Lesson) -> bool:
    """Return whether the visitor has finished a lesson, now or on an earlier day."""
    return lesson.name in state.LESSON_FINISHED.get()


def saved_progress() -> dict[str, Any]:
    """Return the progress that a browser keeps for the next day: nothing of it stays on the server."""
    return {"places": state.LESSON_PLACES.get() or {}, "finished": list(state.LESSON_FINISHED.get())}


def bring_back(saved: Any) -> None:
    """Add the progress that a browser has saved to the present one. saved: in the form of `saved_progress`; any other form is
    ignored, and so are lessons that do not exist."""
    match saved:
        case {"places": dict(places), "finished": list(finished)}:
            known = files.files()
            steps = {name: number for name, number in places.items() if name in known and type(number) is int and number >= 0}
            state.LESSON_PLACES.set(steps | (state.LESSON_PLACES.get() or {}))
            known_names = (name for name in finished if isinstance(name, str) and name in known)
            state.LESSON_FINISHED.set(tuple(dict.fromkeys((*state.LESSON_FINISHED.get(), *known_names))))


def is_elsewhere(step: Step, page: str) -> bool:
    """Return whether the visitor has left the step's page or has typed another text."""
    return page != step.page or any(
        state.box_text(key) not in ("", step.link.get(key.name, state.box_text(key))) for key in TEXTS
    )
